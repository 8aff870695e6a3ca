/** Signs of life: who does what now, as far as the reader is told. */
import type { FeedEvent } from "@stoa/sdk"
import { expect, it } from "vitest"
import { linesOf } from "../../../src/features/servers/held.logic.ts"
import { activities, takeEvent } from "../../../src/feed/events/signals.ts"

const tell = (kind: string, body: object, space: string | null = null) =>
  takeEvent({ kind, body: { principal: "p_scout", run: "run_1", ...body }, space, at: "" } as unknown as FeedEvent)
const now = () => activities.get().get("spc_harbour")?.[0]

it("an agent at work is shown with its step and its call, not while it waits, and no longer when it has ended", () => {
  tell("run.started", {}, "spc_harbour")
  expect(now()).toMatchObject({ who: "p_scout", what: "works" })
  tell("call.received", { run: { id: "run_1", step: 2, place: 1 }, tool: "mail/send" })
  expect(now()).toMatchObject({ step: 2, tool: "mail/send" })
  tell("run.waiting", {})
  expect(now()).toMatchObject({ waits: true })
  tell("run.resumed", {})
  expect(now()?.waits).toBeUndefined()
  tell("run.stepped", { step: 3 })
  expect(now()).toMatchObject({ step: 3 })
  expect(now()?.tool).toBeUndefined()
  tell("run.ended", {}, "spc_harbour")
  expect(now()).toBeUndefined()
})

it("a server's log goes on where what was kept of it ends", () => {
  expect(linesOf(["a", "b"], [])).toEqual(["a", "b"])
  expect(linesOf(["a", "b"], ["c"])).toEqual(["a", "b", "c"])
  expect(linesOf(["a", "b", "c"], ["b", "c", "d"])).toEqual(["a", "b", "c", "d"])
  expect(linesOf(["a", "b"], ["b"])).toEqual(["a", "b"])
})
