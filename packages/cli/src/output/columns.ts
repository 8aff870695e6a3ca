/** The columns of wide tables, the text last, and which of them a narrow terminal can spare, the first of them first. Pure. */

interface Columns {
  readonly shown: ReadonlyArray<string>
  readonly spare?: ReadonlyArray<string>
}

export const columns = {
  agents: { shown: ["name", "id", "roles", "toolsets", "source"], spare: ["source"] },
  approvals: { shown: ["id", "principal", "tool", "givenBy", "createdAt"], spare: ["createdAt", "givenBy"] },
  calls: { shown: ["id", "state", "principal", "createdAt", "settledAt"], spare: ["settledAt"] },
  chats: {
    shown: ["id", "agent", "updatedAt", "messageCount", "pinned", "current", "title"],
    spare: ["messageCount", "pinned", "current"],
  },
  grants: {
    shown: ["who", "what", "where", "until", "source", "id"],
    spare: ["source", "until"],
  },
  hosts: {
    shown: ["name", "connected", "shared", "tools", "lastSeenAt", "owner", "id"],
    spare: ["shared", "owner", "lastSeenAt"],
  },
  letters: { shown: ["id", "kind", "at", "tried", "failure"], spare: ["tried", "at"] },
  memory: {
    shown: ["id", "namespace", "kind", "key", "version", "tags", "content"],
    spare: ["namespace", "version", "tags"],
  },
  runs: { shown: ["id", "agent", "state", "stop", "step", "trigger"], spare: ["step", "stop"] },
  search: { shown: ["id", "key", "why", "content"], spare: ["why"] },
  spaces: {
    shown: ["name", "kind", "trigger", "lastSeq", "unread", "id", "topic"],
    spare: ["lastSeq", "trigger", "topic"],
  },
  tokens: {
    shown: ["id", "principal", "state", "context", "expiresAt", "lastUsedAt", "revokedAt", "label"],
    spare: ["revokedAt", "context", "lastUsedAt", "expiresAt"],
  },
  tools: {
    shown: ["name", "set", "executionType", "riskLevel", "asks", "description"],
    spare: ["executionType", "set"],
  },
  waits: { shown: ["id", "agent", "since", "until", "ring", "for"], spare: ["ring", "until"] },
} as const satisfies Readonly<Record<string, Columns>>
