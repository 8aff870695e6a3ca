/** Turns of programs that are kept apart from the machine, in real boxes. */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { findBubblewrap } from "../../src/programs/isolation.ts"
import { ask, Guest } from "../house.ts"
import { dm, ended } from "../runs/runsKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { programmed, teamHouse } from "./teamKit.ts"

const shell = (script: string) => ({ program: "command", command: ["/bin/sh", "-c", script] })
const bwrap = findBubblewrap(process.getuid?.() === 0)

describe.skipIf(bwrap === undefined)("programs in a box", () => {
  layer(teamHouse({ store: "sqlite", env: { STOA_PROGRAMS: "isolated" } }), {
    excludeTestServices: true,
    timeout: 60_000,
  })((it) => {
    it.effect("a program sees its workspace and its turn, and neither the house's data nor what is root's", () =>
      Effect.gen(function* () {
        const { configFile, folder } = yield* Guest
        const ada = yield* someone()
        const look = `cat "$STOA_INSTRUCTIONS" >/dev/null && echo turn; touch made && echo made; mkdir /tmp/own && echo temp; ls ${folder};
          cat ${configFile} ${folder}/stoa.db /etc/shadow 2>/dev/null | wc -c`
        const bot = yield* programmed({ thinker: shell(look) })
        const space = yield* dm(ada, bot)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "look" }))
        const [row] = yield* ended(bot)
        assert.deepInclude(row!, { state: "completed", failure: null })
        const { items } = yield* ask(() => ada.client.spaces.messages(space.id))
        assert.deepStrictEqual(items.at(-1)!.text.split(/\s+/), [
          "turn",
          "made",
          "temp",
          "homes",
          "turns",
          "workspaces",
          "0",
        ])
        assert.isTrue(existsSync(join(folder, "workspaces", bot.id.slice(4), "made")))
      }),
    )

    /** What came of one turn: what it said, or why it failed. */
    const turnOf = Effect.fnUntraced(function* (thinker: object) {
      const { admin } = yield* Guest
      const ada = yield* someone()
      const bot = yield* programmed({ thinker })
      const space = yield* dm(ada, bot)
      yield* ask(() => ada.client.spaces.post(space.id, { text: "look" }))
      const [row] = yield* ended(bot)
      const { items } = yield* ask(() => admin.spaces.messages(space.id))
      return row!.failure ?? items.at(-1)!.text
    })

    it.effect("a command is run as it is given: the files it names are there, and nothing beside them", () =>
      Effect.gen(function* () {
        const { folder } = yield* Guest
        const place = join(dirname(folder), fresh("place"))
        mkdirSync(place, { mode: 0o700 })
        const file = (name: string, text: string): string => {
          const path = join(place, name)
          writeFileSync(path, text)
          chmodSync(path, 0o644)
          return path
        }
        const [script, given] = [file("script", 'ls "$2"; cat "$1"; echo x >> "$1"'), file("given", "given\n")]
        file("beside", "beside")
        symlinkSync(join(place, "beside"), join(place, "link"))
        const command = ["/bin/sh", script, given, place, join(place, "link"), join(folder, "stoa.db")]
        const said = yield* turnOf({
          program: "command",
          command: ["/bin/sh", "-c", '"$@" 2>/dev/null; true', "sh", ...command],
        })
        assert.strictEqual(said, "given\nscript\ngiven")
      }),
    )

    it.effect("no program works where the configuration file is: it would name the programs", () =>
      Effect.gen(function* () {
        const { configFile } = yield* Guest
        const place = join(dirname(configFile), fresh("etc"))
        mkdirSync(place)
        chmodSync(place, 0o777)
        renameSync(configFile, join(place, "real.json"))
        symlinkSync(join(place, "real.json"), configFile)
        const look = shell(`cat ${place}/real.json; echo seen`)
        assert.match(yield* turnOf({ ...look, workspace: place }), /configuration file .* could change/)
        assert.match(
          yield* turnOf({ ...look, links: [{ path: place, write: true }] }),
          /configuration file .* could change/,
        )
        assert.strictEqual(yield* turnOf({ ...look, links: [{ path: place }] }), "seen")
      }),
    )

    it.effect("a parent that puts a link in place of its child's folder leads the child nowhere", () =>
      Effect.gen(function* () {
        const { admin, folder } = yield* Guest
        const outside = join(dirname(folder), fresh("outside"))
        mkdirSync(outside, { mode: 0o777 })
        const ada = yield* someone()
        const lead = yield* programmed({
          thinker: {
            ...shell(`rm -rf sub; ln -s ${outside} sub; echo linked`),
            children: { look: shell("touch made; pwd") },
          },
        })
        const workspace = join(folder, "workspaces", lead.id.slice(4))
        const child = yield* ask(() =>
          admin.agents.spawn(lead.id, {
            name: fresh("child"),
            instructions: "Look.",
            program: "look",
            workspaceSubdir: "sub",
          }),
        )
        const [first] = yield* ended(child)
        assert.deepInclude(first!, { state: "completed", failure: null })
        assert.deepStrictEqual(readdirSync(join(workspace, "sub")), ["made"])
        const space = yield* dm(ada, lead)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "link" }))
        assert.strictEqual((yield* ended(lead)).at(-1)!.state, "completed")
        yield* ask(() => admin.agents.say(child.id, { text: "again" }))
        const second = (yield* ended(child, 2))[1]!
        assert.strictEqual(second.state, "failed")
        assert.match(second.failure!, /contains a link/)
        assert.deepStrictEqual(readdirSync(outside), [])
      }),
    )
  })
})
