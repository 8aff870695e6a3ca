import { Role } from "@stoa/contract"
import { assert, describe, it } from "@effect/vitest"
import { rulesOfRoles } from "./policy.ts"
import { resourceFaults } from "./Resources.ts"

describe("the resources of rules", () => {
  it("every kind is taken, with names that may come later, and so is a pattern that can match one", () => {
    const taken = "* tools/x tools/* tools/files/* tools/not-there-yet t* */x audit a* audit* self/calls house/doctor"
    for (const resource of [...taken.split(" "), "spaces/the lab", "wallets/0xAB", "allow-lists/stoa/agent"])
      assert.deepStrictEqual(resourceFaults(resource), [], resource)
    for (const { resource } of rulesOfRoles(Role.literals)) assert.deepStrictEqual(resourceFaults(resource), [])
  })

  it("one that is almost of the house is refused with what was meant, and with the kinds there are", () => {
    for (const [resource, meant] of [
      ["tool/foo", "tools/foo"],
      ["tool/x", "tools/x"],
      ["Tools/foo", "tools/foo"],
      ["tool/files/*", "tools/files/*"],
      ["tools", "tools/*"],
      ["tools/", "tools/*"],
      ["secret/openai", "secrets/openai"],
      ["allowlists/stoa/agent", "allow-lists/stoa/agent"],
      ["audit/*", "audit"],
    ] as const) {
      const [fault] = resourceFaults(resource, "policies.0.resource")
      assert.strictEqual(fault?.path, "policies.0.resource", resource)
      assert.include(
        fault!.message,
        `there is no resource "${resource}"; did you mean "${meant}"? A resource of the house is *, audit`,
      )
      assert.match(fault!.message, /begins with: agents\/, .*tools\/, wallets\/$/)
    }
  })

  it("one that is like none of the house's is a program's own", () => {
    for (const resource of ["reports/*", "docs/plan", "x", "web*"])
      assert.deepStrictEqual(resourceFaults(resource), [], resource)
  })
})
