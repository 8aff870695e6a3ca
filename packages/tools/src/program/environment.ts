/**
 * The environment of a program we start: what it needs to find itself, its folders and its language, and what its
 * configuration adds. Never our own environment, which holds keys and tokens (S4-77).
 */
import { Config, Effect, Option } from "effect"

const passed = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "LANG",
  "LANGUAGE",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
  // A company's own certificates: without them its servers cannot be reached.
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  // Without these, Windows finds no program.
  "SystemRoot",
  "SystemDrive",
  "PATHEXT",
  "COMSPEC",
  "TEMP",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
]

/** Read through the ConfigProvider, so that the embedding program decides what can be passed. */
export const programEnvironment = Effect.fnUntraced(function* (added: Readonly<Record<string, string>>) {
  const environment: Record<string, string> = {}
  for (const name of passed) {
    const value = yield* Effect.orElseSucceed(Config.option(Config.String(name)), () => Option.none<string>())
    // Shells export functions as variables that begin like this; a program must not get our code.
    if (Option.isSome(value) && !value.value.startsWith("()")) environment[name] = value.value
  }
  return { ...environment, ...added }
})
