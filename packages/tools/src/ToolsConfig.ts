/** The library's configuration with its defaults. Nothing in it is unlimited, and nothing high-risk runs unapproved. */
import { Context } from "effect"

export interface ToolsConfig {
  readonly execution: {
    readonly defaultTimeoutMs: number
    readonly maxTimeoutMs: number
    /** If it is off, timeouts and crashes are still caught (S4-60). */
    readonly sandboxEnabled: boolean
  }
  readonly mcp: {
    /** Unset: the newest version that both sides support (X-55). Seed 004's own is 2024-11-05. */
    readonly protocolVersion: string | undefined
    readonly connectionTimeoutMs: number
    readonly requestTimeoutMs: number
    readonly maxRetries: number
  }
  readonly registry: { readonly maxTools: number; readonly allowDuplicateNames: boolean }
  readonly security: {
    readonly requireAuthorizationForAll: boolean
    readonly blockHighRiskWithoutApproval: boolean
    readonly allowedFilePathPrefix: string
  }
  readonly builtinTools: ReadonlyArray<string>
}

export const defaultToolsConfig: ToolsConfig = {
  execution: { defaultTimeoutMs: 30_000, maxTimeoutMs: 300_000, sandboxEnabled: true },
  mcp: { protocolVersion: undefined, connectionTimeoutMs: 10_000, requestTimeoutMs: 30_000, maxRetries: 3 },
  registry: { maxTools: 1000, allowDuplicateNames: false },
  security: {
    requireAuthorizationForAll: true,
    blockHighRiskWithoutApproval: true,
    // The working directory of the process.
    allowedFilePathPrefix: ".",
  },
  builtinTools: ["web-search", "file-read", "file-write", "http-get", "code-execute"],
}

/** Provide another one to change a default. */
export const CurrentToolsConfig = Context.Reference<ToolsConfig>("tools/ToolsConfig", {
  defaultValue: () => defaultToolsConfig,
})
