/** The program that a server's declaration would run: as a person confirms it, and as it is recorded. Pure. */
import { type MCPServerProgram, type MCPServerSpec, visible } from "@stoa/contract"
import { digestOf, Redactor } from "@stoa/tools"
import { plainSecrets } from "./connections/connectionConfig.ts"

/** Variables are part of it: they decide what a program does as much as its arguments do. */
export const programOf = ({ args = [], command, env = {} }: MCPServerSpec): MCPServerProgram | undefined =>
  command === undefined ? undefined : { command, args, env, digest: digestOf([command, args, env]) }

const maxText = 2000

/** Without secrets, quoted so that each argument is told from the next. */
export const programText = (spec: MCPServerSpec): string | undefined => {
  const { args = [], command } = spec
  if (command === undefined) return undefined
  const text = visible(
    new Redactor(plainSecrets(spec)).text([command, ...args].map((one) => JSON.stringify(one)).join(" ")),
  )
  return text.length > maxText ? `${text.slice(0, maxText)} … and ${text.length - maxText} more characters` : text
}
