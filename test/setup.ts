// Before every test file. Workers run one file after the other with the same modules (vitest.config.ts), so what is to
// happen once a file cannot be said at the top of a shared module: it is said here.
import { afterAll } from "vitest"
import { clear } from "./temporary.ts"

// Registered before any hook of the file itself, and so run after them.
afterAll(clear)
