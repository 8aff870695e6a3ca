/** Which guide explains a screen. Pure. */
const guides: ReadonlyArray<readonly [begins: string, guide: string]> = [
  ["/s/", "spaces"],
  ["/spaces", "spaces"],
  ["/decisions", "decisions"],
  ["/runs", "agents"],
  ["/agents", "agents"],
  ["/memory", "memory"],
  ["/tools", "toolsets"],
  ["/servers", "servers"],
  ["/connect", "mcp"],
  ["/why", "rights"],
  ["/people", "rights"],
  ["/overview", "running"],
  ["/me", "first-steps"],
  ["/house", "first-steps"],
]

export const helpPageOf = (path: string): string | undefined =>
  guides.find(([begins]) => path === begins || path.startsWith(begins.endsWith("/") ? begins : `${begins}/`))?.[1]
