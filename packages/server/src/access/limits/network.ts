/** The network of an address: somebody who guesses tokens has many addresses, but rarely many networks. Pure. */
import { isIP, isIPv4 } from "node:net"

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The eight groups of an IPv6 address, each as a number. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [head = "", tail] = address.split("%")[0]!.split("::")
  const read = (part: string) =>
    part === ""
      ? []
      : part.split(":").flatMap((group) => {
          if (!group.includes(".")) return [Number.parseInt(group, 16)]
          const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number)
          return [a * 256 + b, c * 256 + d]
        })
  const [first, last] = [read(head), tail === undefined ? [] : read(tail)]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

/**
 * A provider gives one customer an IPv4 address, or an IPv6 subnet of 64 bits, of which the customer can use every
 * address. For IPv4 the /24 is the smallest routed unit. Anything that is not an address is a network of its own.
 */
export const networkOf = (address: string): string => {
  const plain = mapped.exec(address)?.[1] ?? address
  if (isIPv4(plain)) return `${plain.split(".").slice(0, 3).join(".")}.0/24`
  if (isIP(plain.split("%")[0]!) !== 6) return plain
  const groups = groupsOf(plain).slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`
}
