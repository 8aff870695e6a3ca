import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { targetOf } from "./Target.ts"

describe("the target of a request", () => {
  it("a plain path is plain, with a query or without", () => {
    for (const url of [
      "/",
      "/?",
      "/mcp/",
      "/mcp/servers/notes?x=/../y;z",
      "/api/v1/tools/notes%2Fsearch/call",
      "/api/v1/messages/msg_1/reactions/%F0%9F%91%8D",
      "/api/v1/principals/Grace%20Hopper",
      "/api/v1/principals/Jos%C3%A9",
      "/api/v1/tools/a.b~c/call",
      "/api/v1/principals/o'neill@x:y",
      "/d/eyJ.abc-_",
      "/x/...",
    ])
      assert.isUndefined(targetOf(url).fault, url)
    assert.strictEqual(targetOf("/a/b?c=/d").path, "/a/b")
  })

  it("whatever can be read in two ways is refused", () => {
    for (const url of [
      "",
      "*",
      "api/v1/me",
      "http://127.0.0.1/api/v1/me",
      "//api/v1/me",
      "/api//v1/me",
      "/api/./v1/me",
      "/api/v1/x/../me",
      "/api/v1/x/%2e%2E/me",
      "/api/v1/x/.%2e",
      "/api/v1/%63alls/x",
      "/api/v1/calls/x;y=/calls/z/result",
      "/api/v1/calls/x#/calls/z",
      "/api\\v1\\me",
      "/api/v1/me%",
      "/api/v1/%zz",
      "/api/v1/%ff",
      "/api/v1/%00",
      "/api/v1/me?x=%00",
      "/api/v1/\u00e9",
      "/api/v1/a b",
      "/%6dcp",
    ])
      assert.isDefined(targetOf(url).fault, url)
  })

  it("what is plain decodes to segments that spell it again, but for the escapes it needs", () => {
    const part = fc.oneof(fc.string({ unit: "binary", maxLength: 6 }), fc.stringMatching(/^[%2efEF./;a-z]{0,8}$/))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const path = `/${parts.join("/")}`
        const { fault } = targetOf(path)
        if (fault !== undefined || path.includes("?")) return
        for (const segment of path.split("/").slice(1, -1)) {
          const text = decodeURIComponent(segment)
          assert.isFalse(text === "" || text === "." || text === "..")
          assert.strictEqual(decodeURIComponent(encodeURIComponent(text)), text)
        }
      }),
      { numRuns: 5000 },
    )
  })
})
