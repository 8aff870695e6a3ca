/** What a suite is: cases that can be run by any test runner, against anything that offers the seed's tools over MCP. */

/** A client of the tools under test. */
export interface ToolClient {
  readonly tools: () => Promise<ReadonlyArray<ListedTool>>
  readonly call: (tool: string, input?: object) => Promise<Outcome>
}

export interface ListedTool {
  readonly name: string
  readonly inputSchema: {
    readonly properties?: Readonly<Record<string, unknown>>
    readonly required?: ReadonlyArray<string>
  }
  readonly annotations?: Readonly<Record<string, unknown>>
}

export interface Outcome {
  readonly isError: boolean
  readonly text: string
  /** The text parsed as JSON, or unchanged if it is not JSON. */
  readonly value: unknown
}

export interface SuiteCase {
  /** The behaviours it tests, by their ids in the ledger. */
  readonly ids: ReadonlyArray<string>
  readonly title: string
  readonly run: () => Promise<void>
}

type Body<World> = (world: World) => Promise<void>

/** The cases of a suite; each gets its own world. */
export const casesOf = <World>(
  open: () => Promise<World>,
  cases: ReadonlyArray<readonly [ids: string, title: string, body: Body<World>]>,
): ReadonlyArray<SuiteCase> =>
  cases.map(([ids, title, body]) => ({
    ids: ids.split(" "),
    title: `${ids} ${title}`,
    run: async () => body(await open()),
  }))

export class SuiteFailure extends Error {
  override readonly name = "SuiteFailure"
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 1000) ?? String(value)

export const expectTrue = (so: boolean, what: string): void => {
  if (!so) throw new SuiteFailure(what)
}

export const expectEqual = (found: unknown, wanted: unknown, what: string): void =>
  expectTrue(sorted(found) === sorted(wanted), `${what}: found ${shown(found)}, wanted ${shown(wanted)}`)

/** As text that does not depend on the order of keys. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  ) ?? "undefined"

/** The result of a tool that must not fail. */
export const expectDone = async (
  client: ToolClient,
  tool: string,
  input: object = {},
): Promise<Readonly<Record<string, unknown>>> => {
  const { isError, text, value } = await client.call(tool, input)
  expectTrue(!isError, `${tool} failed: ${text}`)
  expectTrue(typeof value === "object" && value !== null, `${tool} gave no object: ${text}`)
  return value as Readonly<Record<string, unknown>>
}

/** The error of a tool that must fail. */
export const expectRefused = async (client: ToolClient, tool: string, input: object): Promise<string> => {
  const { isError, text } = await client.call(tool, input)
  expectTrue(isError, `${tool}(${shown(input)}) should have failed and gave ${text}`)
  return text
}

export const namesOf = async (client: ToolClient): Promise<ReadonlyArray<string>> =>
  (await client.tools()).map(({ name }) => name).toSorted()

/** Each of these inputs is refused. */
export const expectAllRefused = async (
  client: ToolClient,
  tool: string,
  inputs: ReadonlyArray<object>,
): Promise<void> => {
  for (const input of inputs) await expectRefused(client, tool, input)
}
