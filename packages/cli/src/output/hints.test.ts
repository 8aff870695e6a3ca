/** The house's neutral sentence becomes one with the command that helps. */
import { BadInput, Forbidden, Missing, NameTaken, OwnedByFile } from "@stoa/contract"
import { describe, expect, it } from "vitest"
import { withCommand, withHint } from "./hints.ts"

const jim = { name: "Jim", kind: "agent", toolsets: ["stoa"] }
const hinted = (error: { readonly _tag: string; readonly message: string }, me: typeof jim | undefined = jim) =>
  withHint({ tag: error._tag, message: error.message, fields: { ...error } }, me)

describe("hints", () => {
  it("a right that is missing: the grant, for whoever asked", () => {
    const error = new Forbidden({ action: "read", resource: "secrets/*", rule: "silence" })
    expect(hinted(error)).toBe(
      "You may not read secrets/* (rule: silence). An admin can grant read on secrets/*. An admin can do this with: stoa grants add Jim 'secrets/*' --action read",
    )
    expect(withHint({ tag: error._tag, message: error.message, fields: { ...error } }, undefined)).toContain(
      "stoa grants add NAME ",
    )
  })

  it("a right to write in a space, and a toolset; nothing where a command does not help", () => {
    const space = { action: "post in", resource: "spaces/lab", instead: "An admin can grant Jim write on spaces/lab." }
    expect(hinted(new Forbidden({ ...space, rule: "silence" }))).toMatch(
      /stoa grants add Jim spaces\/lab --action write$/,
    )
    const owner = new Forbidden({ ...space, rule: "owners", instead: "Ask an owner." })
    expect(hinted(owner)).toBe(owner.message)
    const set = { action: "use", resource: "toolsets/office", rule: "your toolsets are stoa", instead: "An admin can." }
    expect(hinted(new Forbidden(set))).toMatch(/stoa agents set Jim --toolset stoa --toolset office$/)
  })

  it("a refused tool, by its rule alone", () => {
    const refused = {
      tag: "ToolAuthorizationError",
      message: "Jim may not",
      fields: { rule: "silence", toolName: "wipe" },
    }
    expect(withHint(refused, jim)).toBe("Jim may not. An admin can do this with: stoa grants add Jim tools/wipe")
    // Read by somebody else, who is not the one without the right.
    const message =
      'Agent x not authorized to execute tool "wipe". No rule allows it; an admin can grant big bot execute on tools/wipe'
    expect(withHint({ ...refused, message }, jim)).toMatch(/: stoa grants add 'big bot' tools\/wipe$/)
    expect(withHint({ ...refused, fields: { rule: "grant:1", toolName: "wipe" } }, jim)).toBe("Jim may not")
  })

  it("a warning: the commands for all that it names, each once", () => {
    const secret = 'The tool "a" needs the secret "A", which is not set; an admin has to set it.'
    const agent = 'The tool "b" works as the agent "my bot", which does not exist; an admin has to add that agent.'
    expect(withCommand(`${secret} ${agent} ${secret}`)).toBe(
      `${secret} ${agent} ${secret} An operator can do this with: stoa secrets set A; stoa agents add 'my bot'`,
    )
    expect(withCommand('The model fast: The secret "F" is not set. An operator has to set it.')).toMatch(
      /An operator can do this with: stoa secrets set F$/,
    )
    const model =
      'The agent "pam" thinks with the model "fast", which the configuration file does not declare; give it another, or declare it.'
    expect(withCommand(model)).toBe(`${model} An operator can do this with: stoa agents set pam --model MODEL`)
    expect(withCommand("every name is known")).toBe("every name is known")
  })

  it("something unknown: where such things are listed", () => {
    expect(hinted(new Missing({ noun: "space", ref: "x" }))).toBe(
      'There is no space "x" that you can see. "stoa spaces ls" lists yours.',
    )
    for (const [noun, command] of [
      ["approval", "stoa decide --approvals"],
      ["wait", "stoa runs waits"],
      ["delegation", "stoa api delegations list"],
    ] as const)
      expect(hinted(new Missing({ noun, ref: "x" }))).toMatch(new RegExp(`see\\. "${command}" lists yours\\.$`))
    expect(hinted(new Missing({ noun: "call", ref: "x" }))).toMatch(
      / "stoa tools calls TOOL" lists the calls of a tool, with their ids\.$/,
    )
    const odd = new Missing({ noun: "cave", ref: "x" })
    expect(hinted(odd)).toBe(odd.message)
    expect(hinted(new OwnedByFile({ noun: "agent", name: "a", file: "f" }))).toMatch(/stoa reload$/)
  })

  it("a name that is taken: what changes the thing that has it", () => {
    expect(hinted(new NameTaken({ noun: "MCP server", name: "files" }))).toBe(
      'There is already an MCP server named "files". Choose another name, or use that one. To change it, remove it and add it again: stoa servers rm files',
    )
    expect(hinted(new NameTaken({ noun: "principal", name: "Big Jim" }))).toMatch(
      /^There is already a principal .* stoa agents set 'Big Jim', or for a person: stoa people set 'Big Jim'$/,
    )
    const space = new NameTaken({ noun: "space", name: "lab" })
    expect(hinted(space)).toBe(space.message)
  })

  it("what cannot be paused: which command lists those that can", () => {
    const message = 'Not valid: subject: nobody has "tools/nope"; list the tools to see those there are'
    expect(withHint({ tag: "BadInput", message, fields: {} }, undefined)).toBe(
      `${message}. "stoa tools ls" lists yours.`,
    )
  })

  it("an id of another form, or of nothing: what it should be the id of, and where those are", () => {
    const refused = (path: string, message: string) => hinted(new BadInput({ issues: [{ path, message }] }))
    const form = (prefix: string) => `Expected an id such as ${prefix}_01a1e6c9-52bd-7000-8184-5317e318d22f`
    expect(refused("path.run", form("run"))).toBe('This is not the id of a run. "stoa runs ls" lists yours.')
    expect(refused("path.id", form("ses"))).toBe('This is not the id of a chat session. "stoa chat ls" lists yours.')
    expect(refused("replyTo", form("msg"))).toMatch(
      /^The request could not be read\. replyTo: .*\. "stoa spaces read SPACE" shows the messages of a space, with their ids\.$/,
    )
    const nobody = new Missing({ noun: "principal", ref: "NOBODY" }).message
    expect(refused("subject", nobody)).toBe(
      'The request could not be read. subject: There is no principal "NOBODY" that you can see. "stoa people ls" and "stoa agents ls" list everybody.',
    )
    expect(refused("name", "must be a text")).toBe("The request could not be read. name: must be a text.")
  })

  it("stored failures without fields: a secret that is not set, an agent without a model", () => {
    const stored = (message: string) => withHint({ tag: "ToolExecutionError", message, fields: {} }, undefined)
    expect(stored('The secret "CRM" is not set. An operator has to set it.')).toMatch(/stoa secrets set CRM$/)
    expect(stored("Bob has no model to think with; an admin can give it one")).toMatch(
      /one\. .*stoa agents set Bob --model MODEL$/,
    )
  })
})
