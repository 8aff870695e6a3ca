/**
 * The environment of a program we start: what a program needs to find itself, its folders and its language, and what its
 * configuration adds. Never ours as it stands, which holds keys and tokens (S4-77).
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
  // Where a company's own certificates lie: without them its servers reach nothing.
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  // Windows finds no program without these.
  "SystemRoot",
  "SystemDrive",
  "PATHEXT",
  "COMSPEC",
  "TEMP",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
]

/** Read through the ConfigProvider, so that whoever embeds this decides what there is to pass. */
export const programEnvironment = Effect.fnUntraced(function* (added: Readonly<Record<string, string>>) {
  const environment: Record<string, string> = {}
  for (const name of passed) {
    const value = yield* Effect.orElseSucceed(Config.option(Config.String(name)), () => Option.none<string>())
    // A shell exports its functions as variables that begin so; a program has no use for code of ours.
    if (Option.isSome(value) && !value.value.startsWith("()")) environment[name] = value.value
  }
  return { ...environment, ...added }
})
