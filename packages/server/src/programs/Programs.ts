/**
 * One turn of an agent that is a program: started with a small environment and its own MCP configuration, read while it
 * prints, and ended with all its child processes. A failure affects only this turn.
 */
// edge: the files of a turn
import { chownSync, existsSync, mkdirSync, realpathSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import { type Agent, Caller, Forbidden, type ProgramName } from "@stoa/contract"
import { programEnvironment, Redactor } from "@stoa/tools"
import { Context, Data, Effect, Layer, Redacted } from "effect"
import { Tokens } from "../access/identity/Tokens.ts"
import { Grants } from "../access/rights/Grants.ts"
import { Confidential } from "../access/secrets/Confidential.ts"
import { makeReveal, revealAll } from "../access/secrets/Reveal.ts"
import { Settings } from "../Settings.ts"
import { Folder } from "../store/Folder.ts"
import { causedBy, newCorrelation } from "../store/journal/Correlation.ts"
import { boundArguments, boundsOf, canBound, canWatch, mebibyte } from "./bounds.ts"
import { bridgeBinds, bridgeEntry, findBridge, inBox } from "./bridge.ts"
import { putInside } from "./confine.ts"
import { boxArguments, makeIsolation } from "./isolation.ts"
import { runProcess } from "./process.ts"
import { claude } from "./providers/claude.ts"
import { codex } from "./providers/codex.ts"
import { command } from "./providers/command.ts"
import { cursorAgent, gemini, opencode } from "./providers/others.ts"
import { type TurnResult, type MCPEntry, type ProgramThinker, type Provider, sessionOf } from "./providers/Provider.ts"
import { measureIn } from "./measure.ts"
import { openSocket } from "./socket.ts"
import { watch } from "./watch.ts"
import { Workspaces } from "./Workspaces.ts"

const providers: Record<ProgramName, Provider> = {
  claude,
  codex,
  "cursor-agent": cursorAgent,
  gemini,
  opencode,
  command,
}

/** How long a turn may take if its agent sets no limit. */
const usualSeconds = 1800
const graceMs = 2000
/** How much of a program's last output is kept. */
const maxText = 256 * 1024

/** The turn failed; the message is a sentence that says why. What it printed before is kept. */
export class TurnFailure extends Data.TaggedError("TurnFailure")<{
  readonly message: string
  readonly heard: TurnResult
}> {}

export interface TurnRequest {
  readonly agent: Agent
  readonly thinker: ProgramThinker
  readonly run: string
  readonly step: number
  readonly text: string
  readonly system: string
  readonly session: string | null
  /** The address of our MCP server, and the token for this turn. */
  readonly url: string
  readonly token: Redacted.Redacted
}

export interface TurnReport extends TurnResult {
  /** How it was isolated from the machine: shown with every turn. */
  readonly isolation: "bubblewrap" | "none"
  /** What this machine could not limit in a sandbox. */
  readonly unbounded: ReadonlyArray<string>
}

export class Programs extends Context.Service<
  Programs,
  {
    readonly turn: (request: TurnRequest, show: (text: string) => void) => Effect.Effect<TurnReport, TurnFailure>
    /** How programs are isolated from this machine; undefined if they may not run. */
    readonly isolation: () => "bubblewrap" | "none" | undefined
    readonly secondsOf: (thinker: ProgramThinker) => number
  }
>()("server/programs/Programs") {
  static readonly layer = Layer.effect(
    Programs,
    Effect.gen(function* () {
      const settings = yield* Settings
      const folder = yield* Folder
      const reveal = yield* makeReveal
      const confidential = yield* Confidential
      const workspaces = yield* Workspaces
      const grants = yield* Grants
      const tokens = yield* Tokens
      const scope = yield* Effect.scope
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      const turns = join(realpathSync(folder.path), "turns")
      // Leftovers of a killed house, whose programs have ended too.
      rmSync(turns, { recursive: true, force: true })
      const isolated = makeIsolation(settings.programs)
      const isolation = () => isolated()?.kind
      let bounded: boolean | undefined
      /** Whether the kernel limits what a program in the sandbox uses. */
      const bounds = (bwrap: string | undefined) => bwrap !== undefined && (bounded ??= canBound(bwrap))

      /** What no program may see. */
      const hidden = () => {
        const file = resolve(settings.config)
        return { folder: realpathSync(folder.path), file: existsSync(file) ? realpathSync(file) : undefined }
      }

      const secondsOf = ({ turnSeconds = usualSeconds }: ProgramThinker) => turnSeconds

      const fail = (message: string, heard: TurnResult = { text: "" }) => new TurnFailure({ message, heard })

      /** A program that tries another token than its own: only it reaches the socket of its turn. */
      const recordWrongToken = Effect.fnUntraced(
        function* ({ run, token }: TurnRequest) {
          const caller = yield* tokens.authenticate(Redacted.value(token))
          const rule = "not the token of this turn"
          const denied = new Forbidden({ action: "authenticate", resource: `runs/${run}`, rule })
          const cause = { correlationId: newCorrelation(), actor: caller.principal.id, provenance: "agent" } as const
          yield* causedBy(cause, Effect.provideService(grants.recordDenial(denied), Caller, caller))
        },
        Effect.catchCause((cause) =>
          Effect.logWarning("A wrong token at the socket of a turn was not recorded", cause),
        ),
      )

      const turn: Programs["Service"]["turn"] = Effect.fn("Programs.turn")(function* (request, show) {
        const { agent, thinker } = request
        const kept = isolation()
        if (kept === undefined)
          return yield* fail(
            "Programs of agents run apart from the machine, by bubblewrap, and this machine has none that works. Install it (Debian: apt install bubblewrap), or let them run as the house itself does: STOA_PROGRAMS=unisolated.",
          )
        const provider = providers[thinker.program]
        const redactor = new Redactor()
        const token = Redacted.value(request.token)
        redactor.add(token)
        confidential.add(token)
        const place = join(turns, `${request.run}.${request.step}`)
        const workspace = yield* Effect.mapError(workspaces.open(agent, thinker, kept === "bubblewrap"), (message) =>
          fail(message),
        )
        const network = thinker.network ?? provider.network
        const cutOff = kept === "bubblewrap" && !network
        const bridge = cutOff ? findBridge() : undefined
        if (cutOff && bridge === undefined)
          return yield* fail(
            "Without a network its program reaches the house through @stoa/cli, which is not installed beside the server. Install it, or give the program a network.",
          )
        const server: MCPEntry =
          bridge === undefined
            ? { type: "http", url: request.url, headers: { Authorization: `Bearer ${token}` } }
            : bridgeEntry(bridge, new URL(request.url).origin, token)
        const line = provider.line({
          thinker,
          text: request.text,
          system: request.system,
          session: sessionOf(request.session),
          server,
          permits: agent.toolsets.includes("team"),
          folder: place,
        })
        const added = yield* Effect.mapError(revealAll(thinker.env ?? {}, reveal, redactor), (message) => fail(message))
        const env = yield* programEnvironment({
          ...added,
          ...line.env,
          // The home folder of the house's user is not visible in the sandbox.
          ...(kept === "bubblewrap" ? { HOME: workspace.home, TMPDIR: "/tmp" } : {}),
          ...(bridge === undefined ? {} : { STOA_SOCKET: inBox.socket }),
          STOA_URL: new URL(request.url).origin,
          STOA_TOKEN: token,
          STOA_AGENT: agent.name,
          STOA_MCP_CONFIG: join(place, "mcp.json"),
          STOA_INSTRUCTIONS: join(place, "instructions.md"),
        })
        const files = [
          { in: "turn", path: "mcp.json", text: JSON.stringify({ mcpServers: { stoa: server } }) },
          { in: "turn", path: "instructions.md", text: request.system },
          ...line.files,
        ]
        const write = Effect.try({
          try: () => {
            const { id, path, subdir, user } = workspace
            mkdirSync(place, { recursive: true, mode: 0o700 })
            if (user !== undefined) chownSync(place, user.uid, user.gid)
            for (const file of files)
              if (file.in === "turn") putInside(place, file.path, file.text, user)
              else putInside(path, join(subdir, file.path), file.text, user, id)
          },
          catch: (cause) => fail(`The files of its turn could not be written: ${String(cause)}`),
        })
        const bwrap = isolated()?.bwrap
        const most = boundsOf(thinker.bounds)
        const [program, args] =
          bwrap !== undefined
            ? [
                bwrap,
                [
                  ...boxArguments({
                    workspace: workspace.path,
                    id: workspace.id,
                    subdir: workspace.subdir,
                    folder: place,
                    home: workspace.home,
                    binds: workspace.binds,
                    more: bridge === undefined ? [] : bridgeBinds(bridge, place),
                    hidden: hidden(),
                    network,
                    user: workspace.user,
                    temporary: (most.memoryMiB * mebibyte) / 2,
                  }),
                  ...(bounds(bwrap) ? boundArguments(most, workspace.user) : []),
                  line.command,
                  ...line.args,
                ],
              ]
            : [line.command, line.args]
        const cwd = kept === "bubblewrap" ? workspace.path : join(workspace.path, workspace.subdir)
        const reading = provider.read()
        const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
        const cleaned = redactor.stream()
        const seconds = secondsOf(thinker)
        const wrongToken = () => void runFork(Effect.forkIn(recordWrongToken(request), scope))
        const reach =
          bridge === undefined
            ? Effect.void
            : Effect.mapError(openSocket(place, request.url, token, workspace.user, wrongToken), (why) =>
                fail(`Its socket could not be opened: ${why}`),
              )
        const disk = {
          measure: measureIn(bwrap, [workspace.path, workspace.home]),
          isNamed: workspace.isNamed,
          house: folder.path,
        }
        const unbounded = [
          ...(canWatch() ? [] : ["memory"]),
          ...(canWatch() || bounds(bwrap) ? [] : ["processes"]),
          ...(bounds(bwrap) ? [] : ["open files"]),
        ]
        const options = {
          command: program,
          args,
          env,
          cwd,
          graceMs,
          yields: true as const,
          watch: (pid: number) => watch(pid, most, disk),
        }
        const working = runProcess(options, line.stdin, seconds, (chunk) => {
          const shown = reading.take(decoder.decode(chunk, { stream: true }))
          if (shown !== "") show(cleaned.json({ text: shown }).text)
        })
        const ran = yield* write.pipe(
          Effect.andThen(reach),
          Effect.andThen(working),
          Effect.scoped,
          Effect.ensuring(Effect.sync(() => rmSync(place, { recursive: true, force: true }))),
        )
        const said = reading.end()
        const { session: named, ...rest } = said
        const session = sessionOf(named)
        const heard: TurnResult = {
          ...rest,
          text: redactor.text(said.text.slice(-maxText)),
          ...(session === null || redactor.text(session) !== session ? {} : { session }),
        }
        const name = thinker.program === "command" ? (thinker.command?.[0] ?? "the program") : thinker.program
        switch (ran.end) {
          case "late":
            return yield* fail(`${name} did not end its turn within ${seconds} seconds, and was stopped.`, heard)
          case "over":
            return yield* fail(`${name} ${ran.what}, and was stopped.`, heard)
          case "large":
            return yield* fail(`${name} printed more than 8 MiB in one turn, and was stopped.`, heard)
          case "exited": {
            if (!ran.startable) return yield* fail(`There is no program ${name} that can be started here.`, heard)
            const why = redactor.text(ran.stderr.slice(-1000))
            if (said.error !== undefined) return yield* fail(`${name} failed: ${redactor.text(said.error)}`, heard)
            if (ran.code !== 0)
              return yield* fail(
                `${name} ended with ${ran.code === null ? "a signal" : `exit code ${ran.code}`}${why === "" ? "." : `: ${why}`}`,
                heard,
              )
            return { ...heard, isolation: kept, unbounded }
          }
        }
      })

      return Programs.of({ turn, isolation, secondsOf })
    }),
  )
}
