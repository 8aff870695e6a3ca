/** The first agent: Pam writes, it asks before it acts, answers in the space, and remembers. */
// #region ask
import assert from "node:assert/strict"
import { connect } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")

const house = connect({ url: STOA_URL, token: STOA_TOKEN })
const { token } = await house.tokens.add({ principal: "Pam" })
const pam = connect({ url: STOA_URL, token })

// Start listening before you post: otherwise you may miss the first events.
const feed = pam.feed()
const first = feed.next()
await pam.spaces.post("archive", { text: "Please shred the old file." })
// #endregion

// #region approve
/** Waits until the feed shows an event of this kind. */
const until = async (kind: string) => {
  for (let item = await first; item.done !== true; item = await feed.next())
    if (item.value.type === "event" && item.value.event.kind === kind) return item.value.event
  throw new Error(`the feed ended before ${kind}`)
}

await until("decision.asked")
const { items } = await pam.decisions.list({ state: "open" })
const [question] = items
assert.deepEqual(question?.call?.input, { file: "1998.pdf" })
await pam.decisions.answer(question.id, { verdict: "approve" })
const answered = await until("run.ended")
// #endregion

// #region answer
const said = async () =>
  (await pam.spaces.messages("archive")).items.map(({ author, text }) => `${author.name}: ${text}`)
assert.equal((await said()).at(-1), "Archivist: Shredded, and noted.")
// #endregion

// #region look
const [run] = (await house.runs.list({ agent: "Archivist" })).items
assert.deepEqual([run?.state, run?.stop, run?.step], ["completed", "end_turn", 3])
const { items: steps } = await house.runs.steps(run!.id)
assert.deepEqual(
  steps.map(({ calls }) => calls.map(({ state, tool }) => `${tool} ${state}`)),
  [["shred done"], ["remember done", "post_message done"], []],
)
// #endregion
assert.equal((answered.body as { run?: string }).run, run!.id)

// #region remember
await pam.spaces.post("archive", { text: "So what was it?" })
await until("run.ended")
assert.equal((await said()).at(-1), "Archivist: 1998.pdf, and you allowed it.")
// #endregion
console.log("The agent asked, acted once, answered and remembered.")
await feed.return()
