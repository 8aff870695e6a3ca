/** The `stoa` command. Data on stdout, messages on stderr; exit 0 done, 1 failed, 2 refused or bad usage, 3 waiting. */
// edge: the process itself.
import { Effect, Layer } from "effect"
import { CliError, Command } from "effect/cli"
import { failureOf } from "./Failure.ts"
import { layerPresenter } from "./command/presenter.ts"
import { fittedText, root } from "./command/root.ts"
import { services } from "./command/services.ts"
import { asTyped } from "./Settings.ts"
import { api } from "./verbs/house/api.ts"
import { audit } from "./verbs/house/audit.ts"
import { call } from "./verbs/tools/call.ts"
import { chat } from "./verbs/spaces/chat.ts"
import { connect } from "./verbs/house/connect.ts"
import { decide } from "./verbs/tools/decide.ts"
import { demo } from "./verbs/house/demo.ts"
import { events } from "./verbs/house/events.ts"
import { figures } from "./verbs/house/figures.ts"
import { grants } from "./verbs/access/grants.ts"
import { hosts } from "./verbs/tools/hosts.ts"
import { backup, doctor, login, reload, restore } from "./verbs/house/house.ts"
import { lists } from "./verbs/access/lists.ts"
import { mcp } from "./verbs/house/mcp.ts"
import { memory } from "./verbs/spaces/memory.ts"
import { pause } from "./verbs/access/pause.ts"
import { agents, people } from "./verbs/access/principals.ts"
import { runs } from "./verbs/agents/runs.ts"
import { secrets } from "./verbs/access/secrets.ts"
import { serve } from "./verbs/house/serve.ts"
import { servers, serverUrl } from "./verbs/tools/servers.ts"
import { say, spaces } from "./verbs/spaces/spaces.ts"
import { team } from "./verbs/agents/team.ts"
import { token } from "./verbs/access/token.ts"
import { tools } from "./verbs/tools/tools.ts"

// The pipe to a launcher that switched to a newer Node must not keep a finished command alive.
process.channel?.unref()

// `stoa events | head` closes the pipe: that is an end, not an error.
process.stdout.on("error", (cause: NodeJS.ErrnoException) => process.exit(cause.code === "EPIPE" ? 0 : 1))

const stoa = root.pipe(
  Command.withSubcommands([
    serve,
    mcp,
    connect,
    login,
    reload,
    agents,
    people,
    team,
    runs,
    token,
    grants,
    lists,
    spaces,
    say,
    tools,
    call,
    decide,
    memory,
    chat,
    pause,
    hosts,
    servers,
    secrets,
    audit,
    demo,
    events,
    doctor,
    figures,
    backup,
    restore,
    api,
  ]),
)

/** The presenter has reported mistakes in the command line already. */
const failed = (error: unknown) =>
  Effect.sync(() => {
    const usage = CliError.isCliError(error)
    const said = asTyped(error instanceof Error ? error.message : String(error))
    if (!usage) process.stderr.write(`${fittedText(`stoa: ${said}`, process.stderr)}\n`)
    process.exitCode = usage ? 2 : failureOf(error).exitCode
  })

await Command.runWith(stoa, { version: "0.1.0" })(serverUrl(process.argv.slice(2))).pipe(
  Effect.catch(failed),
  Effect.catchDefect(failed),
  Effect.provide(Layer.merge(services, layerPresenter)),
  Effect.runPromise,
)
