/**
 * Which addresses a tool may reach: public ones, excluding every block that IANA lists as special, and public ones that
 * lead back inside. Pure; `Egress` checks each address after DNS, just before connecting to it.
 */
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

export type AddressKind =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "link-local"
  | "shared"
  | "metadata"
  | "multicast"
  | "reserved"
  | "tunnel"
  | "invalid"

const blocks = (kind: AddressKind, ...them: ReadonlyArray<string>) =>
  them.map((it) => ({ kind, network: IpNetwork.fromStringUnsafe(it) }))

/** The first match decides, so narrow blocks come before wide ones. */
const ipv4 = [
  // Azure's host agent has a public address; the others are in blocks below and get a clearer name here.
  ...blocks("metadata", "168.63.129.16/32", "169.254.169.254/32", "169.254.170.2/32", "100.100.100.200/32"),
  ...blocks("metadata", "192.0.0.192/32"),
  ...blocks("unspecified", "0.0.0.0/8"),
  ...blocks("loopback", "127.0.0.0/8"),
  ...blocks("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
  ...blocks("link-local", "169.254.0.0/16"),
  ...blocks("shared", "100.64.0.0/10"),
  ...blocks("multicast", "224.0.0.0/4"),
  ...blocks("tunnel", "192.88.99.0/24"),
  ...blocks("reserved", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
  ...blocks("reserved", "240.0.0.0/4"),
]

const ipv6 = [
  ...blocks("metadata", "fd00:ec2::254/128", "fd20:ce::254/128"),
  ...blocks("unspecified", "::/128"),
  ...blocks("loopback", "::1/128"),
  ...blocks("private", "fc00::/7", "fec0::/10"),
  ...blocks("link-local", "fe80::/10"),
  ...blocks("multicast", "ff00::/8"),
  // 6to4, Teredo and the local NAT64 prefix carry an IPv4 address to a destination we cannot judge.
  ...blocks("tunnel", "2002::/16", "2001::/32", "64:ff9b:1::/48"),
  ...blocks("reserved", "2001::/23", "2001:db8::/32", "3fff::/20"),
]
const globalUnicast = IpNetwork.fromStringUnsafe("2000::/3")

/** IPv6 forms that reach the IPv4 address itself: judged as that address. */
const wrapped = [IpNetwork.fromStringUnsafe("::ffff:0:0/96"), IpNetwork.fromStringUnsafe("64:ff9b::/96")]

const kindOfIpv4 = (address: NetAddress.Ipv4Address): AddressKind =>
  ipv4.find(({ network }) => IpNetwork.contains(network, address))?.kind ?? "public"

const kindOfIpv6 = (address: NetAddress.Ipv6Address): AddressKind => {
  if (wrapped.some((network) => IpNetwork.contains(network, address)))
    return kindOfIpv4(NetAddress.ipv4FromBytesUnsafe(Uint8Array.from(NetAddress.ipv6ToOctets(address).slice(12))))
  const known = ipv6.find(({ network }) => IpNetwork.contains(network, address))
  if (known !== undefined) return known.kind
  if (!IpNetwork.contains(globalUnicast, address)) return "reserved"
  // ISATAP: an IPv4 address of the same site under any prefix.
  const [, , , , fifth, sixth] = NetAddress.ipv6ToSegments(address)
  return sixth === 0x5efe && (fifth === 0 || fifth === 0x200) ? "tunnel" : "public"
}

/** `text` is one address as DNS or a URL gives it, without brackets or zone. Anything doubtful is `invalid`. */
export const addressKind = (text: string): AddressKind => {
  const read = NetAddress.ipFromString(text)
  if (Result.isFailure(read)) return "invalid"
  return NetAddress.isIpv4Address(read.success) ? kindOfIpv4(read.success) : kindOfIpv6(read.success)
}

/**
 * What an operator may open. Link-local and metadata addresses give access to the machine's own keys: no setting opens
 * those.
 */
export const isOpenable = (kind: AddressKind): boolean => kind === "loopback" || kind === "private" || kind === "shared"

export const isPublicAddress = (text: string): boolean => addressKind(text) === "public"

export const isAddress = (text: string): boolean => Result.isSuccess(NetAddress.ipFromString(text))
