/** A process that offers one function which never ends by itself: to be killed while it works. */
import { connect } from "@stoa/sdk"

const { HOST_NAME, STOA_TOKEN, STOA_URL, TOOL_NAME } = process.env
const host = connect({ url: STOA_URL!, token: STOA_TOKEN! }).host({ name: HOST_NAME! })
host.tool(
  TOOL_NAME!,
  { description: "Begins, and does not end.", inputSchema: { type: "object" } },
  ({ quick }, { callId }) => {
    process.stdout.write(`runs ${callId}\n`)
    return quick === true ? { quick } : new Promise(() => {})
  },
)
await host.start()
process.stdout.write("started\n")
