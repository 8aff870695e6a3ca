/**
 * A team of real programs: Claude Code and Codex as agents of a house, each turn a process in its box, each with a model on
 * loopback that plays its part. A lead makes two workers in worktrees of their own, asks one, which asks the other; both
 * works are merged when a person has seen them. Judged by rows, mail and the merged tree.
 */
import { strict as assert } from "node:assert"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Home, type House } from "../../packages/cli/test/kit/home.ts"
import { type Model, type Move, type Player, startModel, type Told } from "../models/anthropicModel.ts"
import type { Check, CheckContext } from "../kit/checks.ts"
import { claudeProgram } from "../kit/claude.ts"
import { startResponses } from "../models/openaiModel.ts"
import { codexProgram, codexSwitches } from "../kit/codex.ts"

const ours = (tool: string, input: object): Move => ({ tool: `mcp__stoa__${tool}`, input })

/** What an agent does in a turn, by what it was told: the move after so many results. */
type Part = ReadonlyArray<readonly [mail: RegExp, ...moves: ReadonlyArray<Move | ((told: Told) => Promise<Move>)>]>
const playing =
  (part: Part): Player =>
  async (told) => {
    const found = part.find(([mail]) => mail.test(told.mail))
    if (found === undefined) return { say: `Nobody wrote what to do with: ${told.mail}` }
    const [, ...moves] = found
    const move = moves[told.results.length] ?? { say: "That was all." }
    return typeof move === "function" ? move(told) : move
  }

/** A worker that has just answered may still be ending its turn: asked again until it has. */
const merging =
  (name: string, then: Move): Part[number][1] =>
  async ({ results }) => {
    const last = results.at(-1) ?? ""
    if (/"asked"/.test(last)) return then
    if (results.length > 0 && !/is at work/.test(last)) return { say: `Not merged: ${last}` }
    await new Promise((done) => setTimeout(done, 500))
    return ours("merge_work", { name })
  }
const patient = (step: Part[number][1]) => Array.from({ length: 60 }, () => step)

const lead: Part = [
  [/Result of apply_work[\s\S]*"two"/, ours("complete", { result: "Both are merged." }), { say: "Both are merged." }],
  [/Result of apply_work[\s\S]*"one"/, ...patient(merging("two", { say: "I have asked for the merge of two." }))],
  [/Reply from one/, ...patient(merging("one", { say: "I have asked for the merge of one." }))],
  [
    /Message from one/,
    ours("send_message", { recipient: "one", text: "What have you all made?" }),
    { say: "I wait for one." },
  ],
  [
    /The hour has come/,
    ours("spawn_agent", { name: "one", instructions: "Write one.txt in your worktree.", program: "scribe" }),
    ours("spawn_agent", { name: "two", instructions: "Write two.txt in your worktree.", program: "smith" }),
    { say: "They work." },
  ],
]

const writes = (file: string): Move => ({ tool: "Write", input: { file_path: file, content: "one\n" } })
const saying = async ({ results }: Told): Promise<Move> => ({ say: `My own tool gave: ${results.at(-1)}` })

/** Claude Code asks before it writes: a person says yes, and it does the same again. */
const one = (file: () => string): Part => [
  [/Reply from two/, ours("send_message", { recipient: "lead", text: "one.txt and two.txt." }), { say: "Told." }],
  [/What have you all made/, ours("broadcast", { text: "What is yours?", gather: "all" }), { say: "I wait for two." }],
  [/Result of allow_use/, async () => writes(file()), ours("complete", { result: "It is written." }), saying],
  [/Write one\.txt/, async () => writes(file()), saying],
]

const tells = ours("send_message", { recipient: "one", text: "two.txt" })
const echoes: Move = { tool: "exec_command", input: { cmd: "echo two > two.txt" } }
/** The question may come with its instructions, where it has not begun by then. */
const two: Part = [
  [/Write two\.txt[\s\S]*What is yours/, echoes, tells, saying],
  [/Write two\.txt/, echoes, saying],
  [/What is yours/, tells, { say: "Told." }],
]

const git = (folder: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  })

const repositoryIn = (folder: string): string => {
  const path = join(folder, "project")
  mkdirSync(path)
  git(path, "init", "-q", "-b", "main")
  writeFileSync(join(path, "README.md"), "A project.\n")
  git(path, "add", "-A")
  git(path, "commit", "-q", "-m", "first")
  return path
}

/** `claude` and `codex` on the PATH of the box, which sees nothing else of this folder. */
const programsIn = (folder: string) => {
  const bin = join(folder, "bin")
  mkdirSync(bin)
  symlinkSync(claudeProgram, join(bin, "claude"))
  symlinkSync(codexProgram, join(bin, "codex"))
  return { bin, links: [bin, dirname(claudeProgram), dirname(dirname(codexProgram))].map((path) => ({ path })) }
}

type Name = "claude" | "codex"

const thinkerOf = (
  program: Name,
  model: Model<unknown>,
  { isolation }: CheckContext,
  at: ReturnType<typeof programsIn>,
) => {
  const { HOME: _home, ...env } = isolation.env({ PATH: `${at.bin}:/usr/bin:/bin` })
  const vendor =
    program === "claude"
      ? { ANTHROPIC_API_KEY: "loopback", ANTHROPIC_BASE_URL: model.url }
      : { LOOPBACK_KEY: "loopback" }
  return {
    program,
    env: { ...env, ...vendor },
    links: at.links,
    turnSeconds: 120,
    args:
      program === "claude"
        ? ["--model", "claude-loopback"]
        : // The house keeps it apart already.
          [...codexSwitches(model.url), 'sandbox_mode="danger-full-access"'].flatMap((one) => ["-c", one]),
  }
}

/** So often a person is asked: to let Claude Code write, and for each merge. */
const questions = 3

/** A person who says yes to all that is asked, and keeps what was shown; until the lead has completed. */
const approving = async (house: House, begin: () => Promise<unknown>) => {
  const seen: Array<{ readonly tool: string; readonly input: Readonly<Record<string, unknown>> }> = []
  const stop = new AbortController()
  const late = setTimeout(() => stop.abort(), 180_000)
  const { id } = await house.admin.agents.get("lead")
  const feed = house.admin.feed({ after: 0, signal: stop.signal })
  await begin()
  for await (const item of feed) {
    if (item.type !== "event") continue
    const { body, kind } = item.event as unknown as { kind: string; body: Record<string, string> }
    if (kind === "decision.asked") {
      const { call } = await house.admin.decisions.get(body["decision"]!)
      seen.push({ tool: call!.tool, input: call!.input as Record<string, unknown> })
      await house.admin.decisions.answer(body["decision"]!, { verdict: "approve" })
    }
    if (kind === "run.ended" && body["state"] === "failed") break
    if (kind === "run.ended" && body["principal"] === id && seen.length === questions) break
  }
  clearTimeout(late)
  stop.abort()
  return seen
}

interface Row extends Readonly<Record<string, string | number | null>> {}
const rowsOf = (data: string, query: string): ReadonlyArray<Row> => {
  const db = new DatabaseSync(join(data, "stoa.db"), { readOnly: true })
  const rows = db.prepare(query).all() as unknown as ReadonlyArray<Row>
  db.close()
  return rows
}

const teamOf = (leader: Name, slots: number): Check => [
  `a team of Claude Code and Codex, led by ${leader}, with ${slots === 1 ? "one slot" : `${slots} slots`}: spawned, asked, written, merged`,
  async (context) => {
    const home = new Home({ STOA_SLOTS: String(slots), STOA_DEMO: "off" })
    const folder = mkdtempSync(join(context.isolation.home, "team-"))
    const repository = repositoryIn(folder)
    const at = programsIn(folder)
    const workspaceOf = (name: string) => {
      const found = rowsOf(home.data, `SELECT id FROM principals WHERE name = '${name}'`)[0]!
      return join(home.data, "workspaces", String(found["id"]).slice(4))
    }
    const models = {
      lead: leader === "claude" ? await startModel(playing(lead)) : await startResponses(playing(lead)),
      one: await startModel(playing(one(() => join(workspaceOf("one"), "one.txt")))),
      two: await startResponses(playing(two)),
    }
    try {
      home.configure({
        agents: [
          {
            name: "lead",
            toolsets: ["team"],
            persona: "You lead.",
            thinker: {
              kind: "program",
              ...thinkerOf(leader, models.lead, context, at),
              workspace: { git: repository },
              children: {
                scribe: thinkerOf("claude", models.one, context, at),
                smith: thinkerOf("codex", models.two, context, at),
              },
            },
          },
        ],
      })
      const house = await home.start()
      const seen = await approving(house, () => house.admin.agents.say("lead", { text: "The hour has come." }))
      const tree = await house.admin.agents.tree()
      await house.stop()
      const rows = (query: string) => rowsOf(home.data, query)
      // Where it went otherwise: who said what in which turn, and what their tools gave.
      const story = JSON.stringify(
        [
          rows("SELECT p.name, r.state, r.failure FROM runs r JOIN principals p ON p.id = r.agent ORDER BY r.id"),
          rows(`SELECT p.name, s.number, s.state, s.content FROM steps s JOIN runs r ON r.id = s.run
            JOIN principals p ON p.id = r.agent ORDER BY s.began_at`),
          rows("SELECT tool, state, input, output, error FROM calls ORDER BY id"),
        ],
        null,
        1,
      )
      assert.deepEqual(rows("SELECT id FROM runs WHERE state <> 'completed'"), [], story)
      // Three agents in a tree, each with the session of its program for the next turn, and nothing left in an inbox.
      assert.deepEqual(
        tree.items.map(({ depth, inbox, name, thinker }) => `${depth} ${name} ${thinker} ${inbox}`),
        [`0 lead ${leader} 0`, "1 one claude 0", "1 two codex 0"],
      )
      for (const { session } of tree.items) assert.ok(session !== null)
      // What the person was asked, with the whole diff of each merge.
      assert.deepEqual(
        seen.map(({ input, tool }) => (tool === "apply_work" ? `${tool} ${String(input["name"])}` : tool)),
        ["allow_use", "apply_work one", "apply_work two"],
        story,
      )
      assert.match(String(seen[1]!.input["diff"]), /\+\+\+ b\/one\.txt\n@@ -0,0 \+1 @@\n\+one\n/)
      assert.match(String(seen[2]!.input["diff"]), /\+\+\+ b\/two\.txt\n@@ -0,0 \+1 @@\n\+two\n/)
      // The mail, in the space of the team: who wrote what to whom, and what answered what.
      const mail =
        rows(`SELECT p.name AS author, m.text, (SELECT a.name FROM messages o JOIN principals a ON a.id = o.author
        WHERE o.id = m.reply_to) AS answers FROM messages m JOIN principals p ON p.id = m.author JOIN team_spaces t
        ON t.space = m.space WHERE m.call IS NULL ORDER BY m.seq`)
      assert.deepEqual(
        mail.map(({ answers, author, text }) => `${author}${answers === null ? "" : ` to ${answers}`}: ${text}`),
        [
          "lead: Write one.txt in your worktree.",
          "lead: Write two.txt in your worktree.",
          "one: It is written.",
          "lead: What have you all made?",
          "one: What is yours?",
          "two to one: two.txt",
          "one to lead: one.txt and two.txt.",
        ],
      )
      assert.deepEqual(rows("SELECT id FROM waits WHERE state = 'open'"), [])
      assert.deepEqual(rows("SELECT id FROM tokens WHERE run IS NOT NULL AND revoked_at IS NULL"), [])
      // Every turn was in its box, and with one slot one after the other.
      const steps = rows("SELECT state, finish, began_at, said_at FROM steps ORDER BY began_at")
      assert.ok(
        steps.every(({ finish, state }) => state === "said" && finish === "stop"),
        JSON.stringify(steps),
      )
      const overlaps = steps.filter(({ began_at }, n) => n > 0 && String(began_at) < String(steps[n - 1]!["said_at"]))
      if (slots === 1) assert.deepEqual(overlaps, [])
      assert.equal(git(repository, "show", "stoa:one.txt"), "one\n")
      assert.equal(git(repository, "show", "stoa:two.txt"), "two\n")
      assert.equal(git(repository, "rev-list", "--count", "main").trim(), "1")
      const told = rows("SELECT text FROM messages WHERE text LIKE '%Both are merged.%'")
      assert.equal(told.length, 1)
    } finally {
      await Promise.all(Object.values(models).map((model) => model.close()))
      await home.remove()
    }
  },
]

export const teams: ReadonlyArray<Check> = (["claude", "codex"] as const).flatMap((leader) =>
  [1, 4].map((slots) => teamOf(leader, slots)),
)
