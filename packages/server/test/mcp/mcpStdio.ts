/** The official clients of both eras on a program's stdin and stdout, as MCP clients on a desk start it. */
import { Client as NewClient } from "@modelcontextprotocol/client"
import { StdioClientTransport as NewTransport } from "@modelcontextprotocol/client/stdio"
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"

/** Each with the newest revision it speaks. */
export const stdioClients = { "sdk 1.32": "2025-11-25", "client 2.4": "2026-07-28" } as const
export type StdioEra = keyof typeof stdioClients

export interface StdioOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Record<string, string>
  /** What the person at the client types into a form, and what its model says. */
  readonly answers?: { readonly form: Record<string, string>; readonly model: string }
}

export interface StdioClient {
  readonly client: NewClient
  readonly stderr: () => string
  readonly pid: number
}

const about = { name: "desk", version: "1" }

export const stdioClient = async (
  era: StdioEra,
  { answers, args, command, env }: StdioOptions,
): Promise<StdioClient> => {
  const capabilities = answers === undefined ? {} : { elicitation: {}, sampling: {} }
  const params = { command, args: [...args], env, stderr: "pipe" as const }
  const transport = era === "sdk 1.32" ? new OldTransport(params) : new NewTransport(params)
  // The two have the same methods, and types of their own.
  const client = (
    era === "sdk 1.32"
      ? new OldClient(about, { capabilities })
      : new NewClient(about, { capabilities, versionNegotiation: { mode: "auto" } })
  ) as NewClient
  if (answers !== undefined) {
    const form = () => ({ action: "accept" as const, content: answers.form })
    const said = () => ({
      role: "assistant" as const,
      model: "test",
      content: { type: "text" as const, text: answers.model },
    })
    const old = client as unknown as OldClient
    if (era === "sdk 1.32") {
      old.setRequestHandler(ElicitRequestSchema, form)
      old.setRequestHandler(CreateMessageRequestSchema, said)
    } else {
      client.setRequestHandler("elicitation/create", form)
      client.setRequestHandler("sampling/createMessage", said)
    }
  }
  let talk = ""
  transport.stderr?.on("data", (chunk: Buffer) => (talk += chunk.toString()))
  await client.connect(transport)
  return { client, stderr: () => talk, pid: transport.pid! }
}
