/** Claude Code keeps something in one sitting; another agent's Claude Code, which never saw that one, has it in the next. */
import { strict as assert } from "node:assert"
import type { Check } from "../kit/checks.ts"
import { jsonIn, runClaude } from "../kit/claude.ts"

interface Recalled {
  readonly items: ReadonlyArray<{
    readonly id: string
    readonly owner: string
    readonly content: string
    readonly version: number
  }>
}

const written = "The staging database is called heron, and its backups run at 03:40."

export const memory: Check = [
  "Claude Code remembers in one sitting, and recalls in the next through another agent that it was shared with",
  async (context) => {
    const { house } = context
    const jim = await house.admin.principals.get("Jim")
    const first = await runClaude(context, {
      who: "Jim",
      transport: "http",
      folder: ".claude-jim",
      prompt: "Remember what you learned about staging, for Pam too.",
      script: {
        uses: [
          {
            tool: "mcp__stoa__remember",
            input: () => ({ key: "staging/database", content: written, tags: ["staging"], share_with: ["Pam"] }),
          },
          { tool: "mcp__stoa__remember", input: () => ({ key: "diary", content: "heron is an odd name" }) },
        ],
        last: "I will remember it.",
      },
    })
    assert.equal(first.result, "I will remember it.")
    // The house is gone in between: what lasts is in its rows.
    await house.kill()
    const again = { ...context, house: await context.home.restart(house) }
    const heard: Array<string> = []
    const second = await runClaude(again, {
      who: "Pam",
      transport: "stdio",
      folder: ".claude-pam",
      prompt: "When do the backups of staging run?",
      script: {
        uses: [
          { tool: "mcp__stoa__recall", input: () => ({ query: "when are the staging databases backed up?" }) },
          {
            tool: "mcp__stoa__recall",
            input: (results) => {
              heard.push(...results)
              return { query: "odd name" }
            },
          },
          {
            tool: "mcp__stoa__memory_history",
            input: (results) => {
              heard.push(results[1]!)
              return { id: (jsonIn(results[0]!) as Recalled).items[0]?.id ?? "" }
            },
          },
        ],
        last: "At 03:40.",
      },
    })
    Object.assign(context, { house: again.house })
    assert.equal(second.result, "At 03:40.")
    const { items } = jsonIn(heard[0]!) as Recalled
    assert.deepEqual(
      items.map(({ content, owner, version }) => ({ content, owner, version })),
      [{ content: written, owner: jim.id, version: 1 }],
    )
    // What Jim shared with nobody is not there for Pam.
    assert.ok(!heard[1]!.includes("heron is an odd name"))
  },
]
