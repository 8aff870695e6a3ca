/** Presses of somebody who looks: what cannot be taken back counts no others (`src/parts/press`). */
import type { Locator } from "playwright-core"

/** Until it has stood still for a moment and says that its presses count. */
export const counted = async (control: Locator): Promise<void> => {
  await control.scrollIntoViewIfNeeded()
  await control.evaluate(
    (one) =>
      new Promise<void>((ready) => {
        let [still, place] = [0, ""]
        const look = () => {
          const { left, top } = one.getBoundingClientRect()
          const now = `${left} ${top} ${one.getAttribute("aria-disabled") ?? ""}`
          still = now === place && !now.endsWith("true") ? still + 1 : 0
          place = now
          if (still > 20) ready()
          else requestAnimationFrame(look)
        }
        look()
      }),
  )
}

/** With a pointer that is placed on it after that. */
export const press = async (control: Locator): Promise<void> => {
  await counted(control)
  await control.page().mouse.move(0, 0)
  await control.click()
}
