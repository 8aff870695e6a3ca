/** A peer that is asked over its channel to drive so many callers for so long, each of whom starts the next as soon as their last has ended. */
const drive = async (once, { callers, millis, steps }) => {
  let ended = 0
  const started = performance.now()
  const one = async () => {
    while (performance.now() < started + millis) {
      await once(steps)
      ended++
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return { perSecond: ended / ((performance.now() - started) / 1000) }
}

/** `once(steps)` is one piece of work, from its start to its end. */
export const driven = (once) => {
  process.on("message", (question) => {
    drive(once, question).then(
      (answer) => process.send(answer),
      (error) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
  process.once("disconnect", () => process.exit(0))
  process.send({ port: 0 })
}
