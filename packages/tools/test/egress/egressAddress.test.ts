/** What counts as public, and how a URL may be spelled: the pure half of the egress policy. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { addressKind, type AddressKind, isPublicAddress } from "../../src/egress/Address.ts"
import { headersFor, matchesHost, readHeaders, readUrl } from "../../src/egress/Policy.ts"

const table: ReadonlyArray<readonly [AddressKind, string]> = [
  [
    "public",
    "8.8.8.8 1.1.1.1 93.184.216.34 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 223.255.255.255 9.255.255.255 11.0.0.1",
  ],
  ["public", "2606:4700:4700::1111 2a00:1450:4001:81b::200e ::ffff:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::808:808"],
  ["loopback", "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::7f00:1 0:0:0:0:0:0:0:1"],
  [
    "private",
    "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fdff:ffff::1 fec0::1 ::ffff:192.168.0.1 64:ff9b::10.0.0.1",
  ],
  ["link-local", "169.254.0.1 169.254.255.255 fe80::1 febf::1 ::ffff:169.254.1.1"],
  [
    "metadata",
    "169.254.169.254 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254",
  ],
  ["shared", "100.64.0.1 100.127.255.255"],
  ["unspecified", "0.0.0.0 0.1.2.3 :: ::ffff:0.0.0.0"],
  ["multicast", "224.0.0.1 239.255.255.255 ff02::1 ff0e::1"],
  [
    "tunnel",
    "192.88.99.1 2002:7f00:1:: 2002:a9fe:a9fe::1 2001::1 2001:0:53aa:64c::1 64:ff9b:1::1 2400:cb00::5efe:10.0.0.1 2400:cb00::200:5efe:7f00:1",
  ],
  ["reserved", "192.0.0.1 192.0.2.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 240.0.0.1 255.255.255.255"],
  [
    "reserved",
    "2001:db8::1 2001:10::1 2001:20::1 3fff::1 100::1 5f00::1 4000::1 ::127.0.0.1 ::8.8.8.8 1::1 ::fffe:7f00:1",
  ],
  [
    "invalid",
    "localhost 127.1 2130706433 0x7f000001 0177.0.0.1 127.0.0.01 127.0.0.1. [::1] fe80::1%eth0 ::1%1 1.2.3.4.5 256.1.1.1 :::1 ::ffff:127.0.0.256",
  ],
]

describe("isPublicAddress", () => {
  for (const [kind, addresses] of table)
    it(`S4-90 G-16 ${kind}: ${addresses}`, () => {
      for (const address of addresses.split(" ")) assert.strictEqual(addressKind(address), kind, address)
    })

  const inside = fc.constantFrom(
    "127",
    "10",
    "0",
    "224",
    "240",
    "255",
    "192.168",
    "169.254",
    "172.16",
    "100.64",
    "198.18",
  )
  const privateIp = fc
    .tuple(inside, fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 3, maxLength: 3 }))
    .map(([head, rest]) => [...head.split("."), ...rest.map(String)].slice(0, 4).join("."))

  it("G-16 nothing inside is public, in any clothes", () => {
    fc.assert(
      fc.property(privateIp, (ip) => {
        const hex = ip.split(".").map((part) => Number(part).toString(16).padStart(2, "0"))
        const tail = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`
        for (const dressed of [
          ip,
          `::ffff:${ip}`,
          `::ffff:${tail}`,
          `64:ff9b::${tail}`,
          `2002:${tail}::1`,
          `::${tail}`,
        ])
          assert.isFalse(isPublicAddress(dressed), dressed)
      }),
      { numRuns: 500 },
    )
  })

  it("G-16 an address and its mapped form are judged alike, and text that is no address is never public", () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => assert.strictEqual(isPublicAddress(ip), isPublicAddress(`::ffff:${ip}`))),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.ipV6(), (ip) => !isPublicAddress(ip) || /^[23]|^(0:|:|64:ff9b:)/i.test(ip)),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.string(), (text) => /^[0-9a-f:.]+$/i.test(text) || !isPublicAddress(text)),
      { numRuns: 500 },
    )
  })
})

describe("readUrl", () => {
  const refused: ReadonlyArray<readonly [string, string]> = [
    ["scheme", "ftp://example.com/"],
    ["scheme", "file:///etc/passwd"],
    ["scheme", "data:text/plain,hi"],
    ["scheme", "javascript:alert(1)"],
    ["scheme", "gopher://127.0.0.1:6379/_x"],
    ["url", "example.com"],
    ["url", "//example.com"],
    ["url", "http://"],
    ["url", "http://exa mple.com"],
    ["url", "http://exam\tple.com"],
    ["url", "http:\\\\example.com"],
    ["url", " http://example.com"],
    ["url", "http://[fe80::1%25eth0]/"],
    ["url", "http://[::1%1]/"],
    ["url", "http://0x7f.0.0.0.0.1/"],
    ["url", `http://example.com/${"a".repeat(9000)}`],
    ["credentials-in-url", "http://user:pass@example.com/"],
    ["credentials-in-url", "http://example.com@127.0.0.1/"],
    ["spelling", "http://2130706433/"],
    ["spelling", "http://0x7f000001/"],
    ["spelling", "http://0x7f.1/"],
    ["spelling", "http://0177.0.0.1/"],
    ["spelling", "http://127.1/"],
    ["spelling", "http://127.0.0.1./"],
    ["spelling", "http://localhost./"],
    ["spelling", "http://example.com./"],
    ["spelling", "http://%31%32%37.0.0.1/"],
    ["spelling", "http://１２７.0.0.1/"],
    ["spelling", "http://127。0。0。1/"],
    ["spelling", "http://134744072/"],
    ["spelling", "http:127.0.0.1/"],
    ["spelling", "http:///127.0.0.1/"],
  ]
  for (const [reason, text] of refused)
    it(`G-16 refuses for its ${reason}: ${JSON.stringify(text.slice(0, 60))}`, () => {
      const read = readUrl(text, undefined)
      assert.strictEqual("reason" in read ? read.reason : "accepted", reason)
    })

  it("G-16 takes plain URLs", () => {
    for (const text of [
      "http://example.com",
      "HTTPS://Example.COM:8443/a?b=c#d",
      "http://8.8.8.8/",
      "http://[2606:4700::1]/",
    ])
      assert.instanceOf(readUrl(text, undefined), URL, text)
  })

  it("G-16 a host list names hosts, suffixes and ports, and no lookalikes", () => {
    const list = ["api.example.com", "*.docs.dev", "127.0.0.1:8080", "[::1]:9000", "::2"]
    const on = (text: string) => matchesHost(list, new URL(text))
    for (const text of [
      "https://api.example.com/x",
      "http://a.docs.dev",
      "http://a.b.docs.dev:81",
      "http://127.0.0.1:8080",
      "http://[::1]:9000",
      "http://[::2]/",
      "http://[::2]:5/",
    ])
      assert.isTrue(on(text), text)
    for (const text of [
      "https://example.com",
      "http://docs.dev",
      "http://evildocs.dev",
      "http://api.example.com.evil.net",
      "http://127.0.0.1",
      "http://127.0.0.1:80801",
      "http://[::1]/",
      "http://xapi.example.com",
    ].filter((it) => URL.canParse(it)))
      assert.isFalse(on(text), text)
  })

  it("G-16 headers that steer the connection, or break out of their line, are refused", () => {
    const refuses = (headers: Record<string, string>) => "reason" in readHeaders(headers)
    for (const name of [
      "Host",
      "host",
      "Connection",
      "Transfer-Encoding",
      "Content-Length",
      "Proxy-Authorization",
      "TE",
      "Upgrade",
      "",
      "a b",
      "a:b",
      "a\r\nb",
    ])
      assert.isTrue(refuses({ [name]: "x" }), name)
    for (const value of ["a\r\nHost: evil", "a\nb", "a\0b", "日本", "x".repeat(9000)])
      assert.isTrue(refuses({ "x-a": value }), value)
    assert.isFalse(refuses({ Authorization: "Bearer x", "X-Api-Key": "é", accept: "text/html" }))
  })

  it("G-16 what may be a credential goes to no other host, no other port, and not from https to http", () => {
    const headers = { authorization: "Bearer x", "x-api-key": "k", accept: "text/html" }
    const to = (text: string) => headersFor(headers, new URL("https://a.test/x"), new URL(text))
    for (const same of ["https://a.test/y", "https://A.test:443/"]) assert.deepStrictEqual(to(same), headers, same)
    for (const other of ["http://a.test/y", "https://a.test:8443/", "https://b.a.test/", "https://a.test.b/"])
      assert.deepStrictEqual(to(other), { accept: "text/html" }, other)
  })
})
