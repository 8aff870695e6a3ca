/** The Promise client: `connect({ url, token })` returns a client whose methods are the endpoints of the contract. */
import type { Api } from "@stoa/contract"
import { endpoints } from "./endpoints.ts"
import { feed, type FeedItem, type FeedOptions } from "./stream/feed.ts"
import { type Connection, connectionOf, type ConnectOptions, endpointOf, send } from "./request.ts"
import type { PlainClient } from "./types.ts"
import { type FunctionOptions, type Host, type HostOptions, makeHost, requireFunction } from "./host/host.ts"
import type { HostedHandler } from "./host/hostWork.ts"

export type Stoa = PlainClient<typeof Api> & {
  /** Live events, across broken connections; see `FeedOptions.after` for the past. */
  readonly feed: (options?: FeedOptions) => AsyncGenerator<FeedItem, void, void>
  /** Offers functions of this process as tools of the house. */
  readonly host: (options?: HostOptions) => Host
  /**
   * The short form: adds a function to this client's own host and starts it. A bare schema is the schema of its input.
   */
  readonly tool: <Input = Readonly<Record<string, unknown>>>(
    name: string,
    schema: FunctionOptions | Readonly<Record<string, unknown>>,
    handler: HostedHandler<Input>,
  ) => Promise<Host>
}

const isOptions = (schema: object): schema is FunctionOptions => "inputSchema" in schema

const optionsOf = (name: string, schema: FunctionOptions | Readonly<Record<string, unknown>>): FunctionOptions => {
  if (isOptions(schema)) return schema
  const { description } = schema
  return { description: typeof description === "string" ? description : `The function ${name}.`, inputSchema: schema }
}

const methodsOf = (connection: Connection, lines: Readonly<Record<string, string>>) =>
  Object.entries(lines).map(([name, line]) => {
    const endpoint = endpointOf(line)
    return [name, (...args: ReadonlyArray<unknown>) => send(connection, endpoint, args)]
  })

export const connect = (options: ConnectOptions): Stoa => {
  const connection = connectionOf(options)
  const methods = Object.entries(endpoints).map(([group, lines]) => [
    group,
    Object.fromEntries(methodsOf(connection, lines)),
  ])
  const client = Object.fromEntries(methods) as PlainClient<typeof Api>
  const api = {
    declare: (name: string, tools: ReadonlyArray<unknown>, shared: boolean) =>
      client.hosts.declare(name, { tools: tools as never, shared }),
    submit: (call: string, result: unknown) => client.results.submit(call, result as never),
    remove: (name: string, instance: string) => client.hosts.remove(name, { instance }),
  }
  const host = (wanted?: HostOptions) => makeHost(connection, api, wanted)
  let own: Host | undefined
  return {
    ...client,
    feed: (wanted) => feed(connection, wanted),
    host,
    tool: async (name, schema, handler) => {
      requireFunction(name, schema, handler)
      own ??= host()
      own.tool(name, optionsOf(name, schema), handler)
      try {
        await own.start()
      } catch (cause) {
        // A function that the house refuses must not block the next one.
        own.withdraw(name)
        throw cause
      }
      return own
    },
  }
}
