/**
 * Every secret value that the house has used since it started: its own keys, and what tools and MCP servers were given.
 * Used where a text cannot be tied to one receiver of a secret: the log, and results that arrive after a restart.
 */
import { Redactor } from "@stoa/tools"
import { Context } from "effect"

export const Confidential = Context.Reference<Redactor>("server/access/Confidential", {
  defaultValue: () => new Redactor(),
})
