// Signing in, as the suite's authorization servers want it: a browser that says yes to everything, keys and secrets from
// the scenario. What the protocol asks for (discovery, PKCE, issuers, scopes) is the SDK's and the client's business.
import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  DpopSession,
  type OAuthClientInformationContext,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client"
import { Effect } from "effect"
import type { MCPAuthorization, MCPPorts } from "../packages/tools/src/mcp/MCPPorts.ts"

export interface ScenarioContext {
  readonly toolCalls?: ReadonlyArray<{ readonly name: string; readonly arguments: Record<string, unknown> }>
  readonly client_id?: string
  readonly client_secret?: string
  readonly issuer?: string
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
  readonly idp_client_id?: string
  readonly idp_id_token?: string
  readonly idp_token_endpoint?: string
  readonly valid_jwt?: string
}

/** A browser and a keyring in one. Credentials are kept by the issuer they came from. */
class Browser implements OAuthClientProvider {
  readonly redirectUrl = "http://127.0.0.1:9/callback"
  readonly clientMetadataUrl = "https://conformance-test.local/client-metadata.json"
  readonly clientMetadata = {
    client_name: "Stoa",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: "native",
  }
  readonly #clients = new Map<string, StoredOAuthClientInformation>()
  readonly #dpop: DpopSession | undefined
  #tokens: StoredOAuthTokens | undefined
  #verifier = ""
  #came: URLSearchParams | undefined
  readonly #given: StoredOAuthClientInformation | undefined

  constructor(given: StoredOAuthClientInformation | undefined, dpop: DpopSession | undefined) {
    this.#given = given
    this.#dpop = dpop
    if (dpop === undefined) Object.assign(this, { dpop: undefined })
  }

  state(): string {
    return crypto.randomUUID()
  }
  clientInformation(at?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    return this.#given ?? this.#clients.get(at?.issuer ?? "")
  }
  saveClientInformation(client: StoredOAuthClientInformation, at?: OAuthClientInformationContext): void {
    this.#clients.set(at?.issuer ?? "", client)
  }
  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens
  }
  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  codeVerifier(): string {
    return this.#verifier
  }
  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "tokens") this.#tokens = undefined
    if (scope === "all" || scope === "client") this.#clients.clear()
  }
  dpop?(): DpopSession | undefined {
    return this.#dpop
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    const response = await fetch(url, { redirect: "manual" })
    const location = response.headers.get("location")
    if (location === null) throw new Error(`No redirect from ${url.origin}: HTTP ${response.status}`)
    this.#came = new URL(location).searchParams
  }
  get callback(): URLSearchParams {
    if (this.#came === undefined) throw new Error("Nobody came back from the sign-in page")
    return this.#came
  }
}

const credentials = (context: ScenarioContext) => ({
  clientId: context.client_id ?? "",
  clientSecret: context.client_secret ?? "",
})

const machine = (scenario: string, context: ScenarioContext): OAuthClientProvider | undefined => {
  if (scenario === "auth/client-credentials-basic") return new ClientCredentialsProvider(credentials(context))
  if (scenario === "auth/client-credentials-jwt")
    return new PrivateKeyJwtProvider({
      clientId: context.client_id ?? "",
      privateKey: context.private_key_pem ?? "",
      algorithm: context.signing_algorithm ?? "ES256",
    })
  if (scenario === "auth/enterprise-managed-authorization")
    return new CrossAppAccessProvider({
      ...credentials(context),
      assertion: async ({ authorizationServerUrl, fetchFn, resourceUrl, scope }) => {
        const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
          tokenEndpoint: context.idp_token_endpoint ?? "",
          audience: authorizationServerUrl,
          resource: resourceUrl,
          idToken: context.idp_id_token ?? "",
          clientId: context.idp_client_id ?? "",
          fetchFn,
          ...(scope === undefined ? {} : { scope }),
        })
        return jwtAuthGrant
      },
    })
  if (scenario === "auth/wif-jwt-bearer") return new Workload(context)
  return undefined
}

/** A workload's own token for an access token (SEP-1933): no person, no secret. */
class Workload implements OAuthClientProvider {
  readonly redirectUrl = undefined
  readonly clientMetadata = {
    client_name: "Stoa",
    redirect_uris: [],
    grant_types: ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
    token_endpoint_auth_method: "none",
  }
  readonly #context: ScenarioContext
  #tokens: StoredOAuthTokens | undefined

  constructor(context: ScenarioContext) {
    this.#context = context
  }
  clientInformation(): StoredOAuthClientInformation {
    return { client_id: this.#context.client_id ?? "" }
  }
  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens
  }
  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens
  }
  redirectToAuthorization(): void {
    throw new Error("A workload has no browser")
  }
  saveCodeVerifier(): void {}
  codeVerifier(): string {
    return ""
  }
  prepareTokenRequest(scope?: string): URLSearchParams {
    return new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: this.#context.valid_jwt ?? "",
      ...(scope === undefined ? {} : { scope }),
    })
  }
}

export const authorizationFor = async (scenario: string, context: ScenarioContext): Promise<MCPPorts["authorize"]> => {
  if (!scenario.startsWith("auth/")) return () => undefined
  const provider = machine(scenario, context)
  if (provider !== undefined) return () => ({ provider })
  const given =
    context.client_id === undefined
      ? undefined
      : {
          client_id: context.client_id,
          ...(context.client_secret === undefined ? {} : { client_secret: context.client_secret }),
        }
  const browser = new Browser(given, scenario.startsWith("auth/dpop") ? await DpopSession.create() : undefined)
  const authorization: MCPAuthorization = { provider: browser, callback: Effect.try(() => browser.callback) }
  return () => authorization
}
