// One program for all three: what Claude Code or Codex would be in its place. Its mail is on stdin, its tools are at the
// house, and what it prints last is its answer. Each turn is a new process.
import { existsSync, readFileSync, writeFileSync } from "node:fs"

const { STOA_AGENT, STOA_TOKEN, STOA_URL } = process.env
const mail = readFileSync(0, "utf8")

const use = async (tool, input) => {
  const headers = { authorization: `Bearer ${STOA_TOKEN}`, "content-type": "application/json" }
  const body = JSON.stringify({ input })
  const answer = await fetch(`${STOA_URL}/api/v1/tools/${tool}/call`, { method: "POST", headers, body })
  return (await answer.json()).output
}

const turns = {
  lead: async () => {
    // Asking takes two turns: this one ends, and the reply is the next message.
    if (mail.includes("Make a greeting")) await use("send_message", { recipient: "builder", text: "Build a greeting." })
    else if (mail.startsWith("Reply from builder"))
      await use("send_message", { recipient: "critic", text: "Is it good?" })
    else if (mail.startsWith("Reply from critic"))
      await use("complete", { result: `Done. The critic: ${mail.split("\n")[1]}` })
  },
  builder: () => {
    if (!mail.includes("Build a greeting")) return
    writeFileSync("greeting.txt", "Hello, team.\n")
    console.log("It is in build/greeting.txt.")
  },
  critic: () => {
    // It works in the workspace of the lead, and so sees what the builder made in a part of it.
    if (!mail.includes("Is it good")) return
    console.log(existsSync("build/greeting.txt") ? "It is good." : "There is nothing.")
  },
}
await turns[STOA_AGENT]?.()
