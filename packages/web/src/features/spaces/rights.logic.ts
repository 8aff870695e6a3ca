/**
 * What a person can do in a space, so that nothing is offered which the house would refuse. The table is
 * `server/src/spaces/rules.ts`; a test compares the two in all cases.
 */
import type { Message, Principal, Space } from "../../feed/types.ts"

export interface SpaceRights {
  /** Post, reply, react, call tools. */
  readonly speak: boolean
  readonly pin: boolean
  /** Rename and archive it, delete the messages of others. */
  readonly own: boolean
  readonly restore: boolean
  readonly join: boolean
  readonly invite: boolean
  readonly leave: boolean
  /** Remove other members. */
  readonly expel: boolean
}

export const noRights: SpaceRights = {
  speak: false,
  pin: false,
  own: false,
  restore: false,
  join: false,
  invite: false,
  leave: false,
  expel: false,
}

export const rightsIn = (
  { archivedAt, kind, members }: Pick<Space, "archivedAt" | "kind" | "members">,
  me: Pick<Principal, "id" | "roles">,
): SpaceRights => {
  const role = members.find(({ id }) => id === me.id)?.role
  const isAdmin = me.roles.includes("admin")
  const speaks = kind === "public" || role !== undefined
  const belongs = isAdmin || role !== undefined
  const owns = isAdmin || role === "owner"
  if (archivedAt !== null) return { ...noRights, restore: owns }
  const changesMembers = kind !== "dm"
  return {
    speak: speaks,
    pin: isAdmin || speaks,
    own: owns,
    restore: false,
    join: changesMembers && role === undefined && (isAdmin || speaks),
    invite: changesMembers && belongs,
    leave: changesMembers && role !== undefined,
    expel: changesMembers && owns,
  }
}

/** What a person can do with a message. */
export const rightsOn = ({ author }: Pick<Message, "author">, me: { readonly id: string }, may: SpaceRights) => {
  const isMine = author.id === me.id
  return { edit: isMine && may.speak, remove: may.own || (isMine && may.speak) }
}
