// Before every test file. Workers run one file after the other with the same modules (vitest.config.ts), so what is to
// happen once a file cannot be said at the top of a shared module: it is said here.
import { afterAll } from "vitest"
import { clear } from "./temporary.ts"

// A house that ran in this process has narrowed it, as it does in its own.
process.umask(0o022)

// Registered before any hook of the file itself, and so run after them.
afterAll(clear)
