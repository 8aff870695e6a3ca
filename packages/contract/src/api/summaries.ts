/** One line an operation, for /openapi.json, /docs and `stoa api`. A test finds an operation that has none. */

const summaries: Record<string, string> = {
  "principals.list": "List people, agents and services",
  "principals.agents": "List the agents",
  "principals.me": "Who the token says you are",
  "principals.get": "One principal, by id or name",
  "principals.add": "Add a person, an agent or a service",
  "principals.change": "Rename, or change roles and toolsets",
  "principals.retire": "Retire one: its tokens stop at once, its past stays",
  "tokens.list": "List tokens, without their secrets",
  "tokens.add": "Make a token; its secret is shown only here",
  "tokens.rotate": "Replace a token by a new one with the same life",
  "tokens.revoke": "Revoke a token, at once",
  "grants.list": "List grants",
  "grants.add": "Allow, ask for or deny actions on a resource",
  "grants.revoke": "Take a grant back",
  "grants.judge": "What would be decided, and by which rule",
  "delegations.list": "What you have lent and been lent",
  "delegations.add": "Lend a right you have, for a day at most",
  "delegations.revoke": "Take back what was lent, and all that was lent from it",
  "allowLists.list": "Every allow list, by toolset and context",
  "allowLists.get": "One allow list",
  "allowLists.set": "Change an allow list; the change is audited",
  "limits.list": "The limits in force, first match first",
  "secrets.list": "Names of the secrets, never their values",
  "secrets.set": "Set a secret; nobody can read it back",
  "secrets.remove": "Remove a secret",
  "audit.list": "Who did what, newest first",
  "house.reload": "Apply the configuration file, all of it or nothing",
  "house.doctor": "Look the house over",
  "house.backup": "A consistent copy of everything, as a SQLite file",
  "house.file": "A stored file, by id",
  "events.watch": "The feed: what you may see, as it happens, with resume by Last-Event-ID",
  "spaces.list": "The spaces you may see",
  "spaces.get": "One space, by id or name, with its members",
  "spaces.add": "Open a space: public, private, dm (exactly two) or team",
  "spaces.change": "Rename, change topic or trigger, archive or bring back",
  "spaces.addMember": "Let somebody in",
  "spaces.removeMember": "Leave, or put somebody out",
  "spaces.post": "Say something; mentions are found by the house",
  "spaces.messages": "Read, ascending by seq: the newest, or those before or after one",
  "spaces.read": "Say how far you have read",
  "spaces.typing": "Show that you are writing",
  "spaces.watch": "The feed of one space",
  "messages.search": "Find messages by words, in what you may see",
  "messages.get": "One message",
  "messages.history": "What a message said before it was edited",
  "messages.edit": "Change your own message; what it said stays in its history",
  "messages.remove": "Delete a message: its text and reactions are gone, its place stays",
  "messages.react": "React, once a person and emoji",
  "messages.unreact": "Take a reaction back",
  "messages.pin": "Pin a message",
  "messages.unpin": "Unpin it",
  "mcpServers.list": "MCP servers, whether they are there, and their tools",
  "mcpServers.get": "One MCP server",
  "mcpServers.add": "Add an MCP server: a program or an address; waits up to 10 seconds for it",
  "mcpServers.remove": "Disconnect an MCP server and forget it",
  "mcpServers.tools": "What its tools were pinned as, and what waits for review",
  "mcpServers.accept": "Accept what a changed tool says of itself now",
  "tools.list": "The tools you may call",
  "tools.get": "One tool, by name or wire name",
  "tools.form": "A configured tool as it was configured",
  "tools.signingKey": "The key that signs a webhook tool and its callbacks; for admins",
  "tools.add": "Configure a tool",
  "tools.import": "Make http tools of an OpenAPI document; with dryRun only show them",
  "tools.change": "Configure a tool anew, or for the first time",
  "tools.remove": "Remove a configured tool",
  "tools.call": "Call a tool; an Idempotency-Key makes a retry find the first call",
  "calls.list": "Your calls; an admin sees everybody's",
  "calls.get": "One call; with wait, as soon as it has settled",
  "calls.cancel": "Stop a call that waits or runs",
  "results.submit": "The result of a call that waits for one: by a member's client, a host, or a signed callback",
  "decisions.list": "The decisions you may see; state=open are those that wait",
  "decisions.get": "One decision",
  "decisions.answer": "Approve, deny, edit and approve, or submit",
  "decisions.link": "A link that answers one decision as one person",
  "decisions.approvals": "What was approved from now on",
  "decisions.revoke": "Take such an approval back",
  "pauses.list": "What is paused",
  "pauses.set": "Pause an agent, a tool, a server, or everything",
  "pauses.lift": "Let it go on",
  "metrics.read": "Figures in Prometheus' text form",
  "health.alive": "Whether the process answers",
  "health.ready": "Whether the house takes requests",
}

interface Operation {
  readonly operationId?: string
  summary?: string
}

/** Puts the lines into an OpenAPI document. */
export const withSummaries = (document: Record<string, unknown>): Record<string, unknown> => {
  const paths = document["paths"] as Record<string, Record<string, Operation>>
  for (const operations of Object.values(paths))
    for (const operation of Object.values(operations)) {
      const summary = summaries[operation.operationId ?? ""]
      if (summary !== undefined) operation.summary = summary
    }
  return document
}
