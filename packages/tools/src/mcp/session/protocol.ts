/** How we present ourselves to a server: name, capabilities, and the versions we support. */
import {
  type ClientCapabilities,
  type ClientOptions,
  type jsonSchemaValidator,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/client"
import type { MCPPorts } from "./MCPPorts.ts"

export const clientInfo = { name: "stoa", version: "0.1.0" }

const seedVersion = "2024-11-05"
const newestEra = "2026-07-28"

export const knownVersions: ReadonlyArray<string> = [newestEra, ...SUPPORTED_PROTOCOL_VERSIONS]

/** A requester may be able to answer any of these; one that cannot refuses when asked. */
const relayed: ClientCapabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }

/** Declares only what can be answered; a server then does not ask for the rest. */
const capabilitiesOf = (ports: MCPPorts, version: string | undefined): ClientCapabilities => ({
  ...(ports.relays === true ? relayed : {}),
  // Seed 004 sends it, and its bytes matter if its version is requested (S4-63). It means nothing to a server.
  ...(version === seedVersion ? { tools: {} } : {}),
  ...(ports.elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true }, url: {} } }),
  ...(ports.sample === undefined ? {} : { sampling: {} }),
  ...(ports.roots === undefined ? {} : { roots: {} }),
})

/** Our own validator checks results after the SDK; the SDK's default would run native regular expressions. */
const noJudge: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
}

const negotiationOf = (version: string | undefined, probeMs: number | undefined): ClientOptions => {
  if (version === undefined)
    return {
      versionNegotiation: {
        mode: "auto",
        probe: probeMs === undefined ? {} : { timeoutMs: probeMs },
      },
    }
  if (version >= newestEra) return { versionNegotiation: { mode: { pin: version } } }
  // Offers the wanted version and accepts any other one we know.
  const others = SUPPORTED_PROTOCOL_VERSIONS.filter((it) => it !== version)
  return { versionNegotiation: { mode: "legacy" }, supportedProtocolVersions: [version, ...others] }
}

export const clientOptions = (
  ports: MCPPorts,
  version: string | undefined,
  probeMs: number | undefined,
): ClientOptions => ({
  capabilities: capabilitiesOf(ports, version),
  jsonSchemaValidator: noJudge,
  ...negotiationOf(version, probeMs),
})
