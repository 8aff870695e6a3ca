/** The programs that run beside the bench, each in a process of its own. `main.ts --child NAME` becomes one of them. */
const children = {
  appender: () => import("./appender.ts"),
  approver: () => import("./approver.ts"),
  attacker: () => import("./attacker.ts"),
  bare: () => import("./bare.ts"),
  load: () => import("./load.ts"),
  roads: () => import("./roads.ts"),
  runner: () => import("./runner.ts"),
  subscribers: () => import("./subscribers.ts"),
}
export type ChildName = keyof typeof children

/** Answers each message with what `reply` makes of it, and leaves with the bench. */
export const serveQuestions = <Q>(reply: (question: Q) => Promise<object>): void => {
  process.on("message", (question) => {
    reply(question as Q).then(
      (answer) => process.send!(answer),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
  process.once("disconnect", () => process.exit(0))
}

export const becomeChild = async (name: string): Promise<void> => {
  await children[name as ChildName]()
}
