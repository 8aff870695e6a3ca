/** The contract itself: what every face derives from it must be there. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import * as Contract from "../src/index.ts"
import { Api, bodyOf, problem, statusOf } from "../src/index.ts"

type ErrorClass = Parameters<typeof problem>[0]
const errors = Object.entries(Contract).filter(
  ([, value]) => typeof value === "function" && value.prototype instanceof Error,
) as unknown as ReadonlyArray<readonly [string, ErrorClass]>

describe("the contract", () => {
  it("every operation of the API says in a line what it does", () => {
    const { paths } = OpenApi.fromApi(Api)
    const operations = Object.values(paths).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string; summary?: string }>),
    )
    assert.isAbove(operations.length, 30)
    for (const { operationId, summary } of operations) assert.isString(summary, operationId)
  })

  it("every error crosses the wire as a problem document and comes back as itself", () => {
    assert.isAbove(errors.length, 15)
    for (const [tag, one] of errors) {
      const codec = problem(one)
      const fields = Object.keys(one.fields).filter((field) => field !== "_tag")
      const sample: Record<string, unknown> = {
        issues: [],
        ids: [],
        expected: tag === "StaleVersion" ? 1 : "words",
        current: 2,
        availableTools: ["x"],
        yours: ["x"],
        size: null,
        limit: 1,
        retryAfter: 1,
        timeoutMs: 1,
        reason: "missing",
        header: "Host",
      }
      const props = Object.fromEntries(fields.map((field) => [field, field in sample ? sample[field] : "x"]))
      const made = ((): Error => {
        try {
          return new one(props as never) as unknown as Error
        } catch {
          return new one({ ...props, limit: "a limit" } as never) as unknown as Error
        }
      })()
      const sent = Schema.encodeUnknownSync(codec)(made) as unknown as Record<string, unknown>
      assert.deepInclude(sent, { ...bodyOf(tag, statusOf(one), made.message) })
      assert.strictEqual(sent["status"], statusOf(one))
      assert.notProperty(sent, "_tag")
      assert.instanceOf(Schema.decodeUnknownSync(codec)(sent), one as unknown as new () => Error)
    }
  })
})
