/** What a new tool may be called: nobody takes a name of the house's own tools (S1-34), or one that reads like another. */
import { type PrincipalId, toolNames } from "@stoa/contract"
import { spellingOf } from "@stoa/tools"
import type { Catalogue } from "./Catalogue.ts"

const builtin = new Map(
  Object.values(toolNames)
    .flat()
    .map((name) => [spellingOf(name), name]),
)

/** The sentence that says why not. `owner`: it is to be a tool of that principal alone. */
export const nameFault = (
  { alike }: Pick<Catalogue["Service"], "alike">,
  name: string,
  owner?: PrincipalId,
): string | undefined => {
  const house = builtin.get(spellingOf(name))
  if (house === name) return `"${name}" is the name of a built-in tool; choose another name`
  const other = house ?? alike(name, owner)
  return other && `"${name}" is too similar to the existing tool "${other}"; choose another name`
}
