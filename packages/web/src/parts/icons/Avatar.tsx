/** A person is round, an agent is square, a service has an open outline: distinguished by shape, not by colour. */
export interface AvatarProps {
  readonly name: string
  readonly kind: string
  readonly size?: "s" | "l"
}

const hues = 4

/** FNV-1a, folded: similar names still get different hues. */
const hueOf = (name: string): number => {
  const mixed = [...name].reduce((sum, sign) => Math.imul(sum ^ sign.codePointAt(0)!, 16_777_619), 2_166_136_261)
  return (((mixed >>> 16) ^ mixed) & (hues - 1)) + 1
}

const lettersOf = (name: string, kind: string): string => {
  const words = name.split(/[\s._-]+/).filter((word) => word !== "")
  const two =
    words.length > 1
      ? words
          .slice(0, 2)
          .map((word) => [...word][0])
          .join("")
      : [...name].slice(0, 2).join("")
  return kind === "person" ? two.toUpperCase() : two.toLowerCase()
}

export const Avatar = ({ kind, name, size }: AvatarProps) => {
  const shape = kind === "agent" ? `agent hue-${hueOf(name)}` : kind === "service" ? "service" : ""
  return (
    <span className={`face ${shape} ${size ?? ""}`} aria-hidden="true">
      {lettersOf(name, kind)}
    </span>
  )
}
