/** Both official MCP clients, one after the other, against the same house. */
await import("./oldEra.ts")
await import("./newEra.ts")
