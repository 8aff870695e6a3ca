/**
 * Every value the house keeps secret, as far as it has used it since it began: its own keys, and what tools and MCP servers
 * were given. For what can't be tied to one place where a secret was sent: the log, and what comes back after a restart.
 */
import { Redactor } from "@stoa/tools"
import { Context } from "effect"

export const Confidential = Context.Reference<Redactor>("server/access/Confidential", {
  defaultValue: () => new Redactor(),
})
