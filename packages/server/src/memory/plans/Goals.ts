/** Goals as records: the text is the content, status and priority are tags. Pure. */
import type { MemoryRecord } from "@stoa/contract"

export interface Goal {
  readonly id?: string
  readonly description?: string
  readonly status?: string
  readonly priority?: number
  readonly isLongTerm?: boolean
  readonly isCompleted?: boolean
}

const tagged = (tags: ReadonlyArray<string>, name: string): string | undefined =>
  tags.find((tag) => tag.startsWith(`${name}:`))?.slice(name.length + 1)

/** A goal's text is its content, the rest are tags, so that goals can be listed by them. */
export const goalIn = (record: MemoryRecord) => {
  const priority = tagged(record.tags, "priority")
  return {
    id: record.key === record.id ? record.id.slice(record.id.indexOf("_") + 1) : record.key,
    description: record.content,
    status: tagged(record.tags, "status") ?? "active",
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(record.tags.includes("long-term") ? { isLongTerm: true } : {}),
  }
}

export const goalTags = (goal: Goal, was: MemoryRecord | undefined): ReadonlyArray<string> => {
  const before = was === undefined ? undefined : goalIn(was)
  const completed = goal.isCompleted === undefined ? undefined : goal.isCompleted ? "completed" : "active"
  const priority = goal.priority ?? before?.priority
  return [
    `status:${goal.status ?? completed ?? before?.status ?? "active"}`,
    ...(priority === undefined ? [] : [`priority:${priority}`]),
    ...((goal.isLongTerm ?? before?.isLongTerm) === true ? ["long-term"] : []),
  ]
}
