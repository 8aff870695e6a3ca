/** Whether a program is on this machine, as the one who would start it finds it. Starts nothing. */
// edge: looks for files.
import { accessSync, constants, statSync } from "node:fs"
import { delimiter, isAbsolute, join, resolve } from "node:path"
import { Effect } from "effect"
import { programEnvironment } from "./environment.ts"

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/**
 * By its path, or by its name in the folders of PATH. `added`: what its configuration adds to its environment. `folder`:
 * where it is started.
 */
export const isProgramHere = Effect.fnUntraced(function* (
  command: string,
  added: Readonly<Record<string, string>> = {},
  folder = ".",
) {
  const { PATH = "", PATHEXT = "" } = (yield* programEnvironment(added)) as Readonly<Record<string, string | undefined>>
  // Windows adds an ending to a name without one.
  const endings = process.platform === "win32" ? ["", ...PATHEXT.split(";")] : [""]
  const isPath =
    isAbsolute(command) || command.includes("/") || (process.platform === "win32" && command.includes("\\"))
  const folders = isPath ? [folder] : PATH.split(delimiter).filter((one) => one !== "")
  return folders.some((one) =>
    endings.some((ending) =>
      isExecutable(isPath ? resolve(one, `${command}${ending}`) : join(one, `${command}${ending}`)),
    ),
  )
})
