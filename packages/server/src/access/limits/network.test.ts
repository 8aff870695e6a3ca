import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { networkOf } from "./network.ts"

describe("the network of an address", () => {
  it("is the /24 of IPv4 and the /64 of IPv6, however the address is written", () => {
    const table: ReadonlyArray<readonly [string, string]> = [
      ["192.0.2.7", "192.0.2.0/24"],
      ["::ffff:192.0.2.200", "192.0.2.0/24"],
      ["::FFFF:192.0.2.200", "192.0.2.0/24"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["2001:0db8:0000:0000:ffff:ffff:ffff:ffff", "2001:db8:0:0::/64"],
      ["2001:db8:0:1::", "2001:db8:0:1::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["64:ff9b::192.0.2.33", "64:ff9b:0:0::/64"],
      ["unknown", "unknown"],
    ]
    for (const [address, network] of table) assert.strictEqual(networkOf(address), network, address)
  })

  it("two addresses share it when their first 24 or 64 bits are the same, and only then", () => {
    const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const same = one.slice(0, 3).join() === other.slice(0, 3).join()
        assert.strictEqual(networkOf(one.join(".")) === networkOf(other.join(".")), same)
        const sibling = [...one.slice(0, 3), other[3]].join(".")
        assert.strictEqual(networkOf(sibling), networkOf(one.join(".")))
      }),
    )
    const groups = fc.array(fc.nat(0xff_ff), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        const text = (some: ReadonlyArray<number>) => some.map((group) => group.toString(16)).join(":")
        const sibling = [...one.slice(0, 4), ...other.slice(4)]
        assert.strictEqual(networkOf(text(sibling)), networkOf(text(one)))
        const same = one.slice(0, 4).join() === other.slice(0, 4).join()
        assert.strictEqual(networkOf(text(one)) === networkOf(text(other)), same)
      }),
    )
  })
})
