/**
 * A press means one thing: the control that had the focus or was under the pointer when it began. And what cannot be
 * taken back (`ActButton`) counts a press only from somebody who can have seen it: it has been there, and still, for a
 * moment, and the pointer or the focus was placed on it after that.
 */
import { every, later, now } from "../../feed/clock.ts"
import { modal } from "./overlays.ts"

/** Longer than a double click, and than the eye needs to see that something has moved. */
const moment = 500
const glance = 100

interface Control {
  /** Since when it is this control, and since when it is where it is. */
  readonly appeared: number
  still: number
  left: number
  top: number
  /** When the pointer, or the focus, was last placed on it. */
  pointed: number
  focused: number
  /** Enter in a field of its own form means it. */
  readonly fromField: boolean
  /** Whether it shows that it does not count presses yet. */
  readonly shows: boolean
}

interface HeldKey {
  readonly key: string
  readonly target: EventTarget | null
}

const controls = new Map<HTMLElement, Control>()
const held = new Map<string, HeldKey>()
let pointerPress: EventTarget | null = null
const pointer = { x: Number.NaN, y: Number.NaN }

const stop = (event: Event) => {
  event.preventDefault()
  event.stopImmediatePropagation()
}

const isPress = (key: string) => key === "Enter" || key === " "
const moves = (key: string) => /^(?:Arrow|Page)|^(?:Tab|Home|End|Backspace|Delete)$/.test(key)
const button = "[type=button], [type=submit], [type=reset], [type=checkbox], [type=radio]"
const isText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(`textarea, input:not(${button})`))

const onKeyDown = (event: KeyboardEvent) => {
  if (event.isComposing) return
  const { code, key, target } = event
  // A key that is held down writes and moves, but presses nothing a second time.
  if (event.repeat && !moves(key)) {
    if (isText(target) && held.get(code)?.target === target && key !== "Enter") return
    return stop(event)
  }
  held.set(code, { key, target })
  const isBrowsers = event.ctrlKey || event.metaKey || event.altKey || key === "Escape" || key === "Tab"
  if (modal.get() === undefined || isBrowsers) return
  if (!(target instanceof Element) || target.closest("[data-overlay]") === null) stop(event)
}

/** The rest of a press belongs to where it began: the focus may have moved since. */
const onRest = (event: KeyboardEvent) => {
  const began = held.get(event.code)
  if (began !== undefined && began.target !== event.target) stop(event)
  // A button takes the space bar for a click after this.
  if (event.type === "keyup") later(0, () => held.delete(event.code))
}

const around = (target: EventTarget | null): ReadonlyArray<readonly [HTMLElement, Control]> =>
  target instanceof Node ? [...controls].filter(([element]) => element.contains(target)) : []

const place = (target: EventTarget | null, by: "pointed" | "focused") => {
  for (const [, control] of around(target)) control[by] = now()
}

const onPointerMove = ({ screenX, screenY, target }: PointerEvent) => {
  // A browser also tells of a move if the page moves under a pointer that rests.
  if (screenX === pointer.x && screenY === pointer.y) return
  Object.assign(pointer, { x: screenX, y: screenY })
  place(target, "pointed")
}

const onPointerDown = ({ pointerType, target }: PointerEvent) => {
  pointerPress = target
  // A finger is placed where it presses.
  if (pointerType !== "mouse") place(target, "pointed")
}

const look = (element: HTMLElement, control: Control) => {
  const { left, top } = element.getBoundingClientRect()
  if (Math.abs(left - control.left) > 1 || Math.abs(top - control.top) > 1) control.still = now()
  Object.assign(control, { left, top })
  if (!control.shows) return
  if (now() < control.still + moment) element.setAttribute("aria-disabled", "true")
  else element.removeAttribute("aria-disabled")
}

const lookAtAll = () => {
  for (const [element, control] of controls) look(element, control)
}

/** Whether the focus was placed on it, or in it, once it had been there for a moment. A press that did not count does. */
export const mayPress = (element: HTMLElement | null): boolean => {
  const control = element === null ? undefined : controls.get(element)
  if (control === undefined) return false
  const may = control.focused >= control.appeared + moment
  control.focused = now()
  return may
}

const counts = (event: MouseEvent, element: HTMLElement, control: Control): boolean => {
  look(element, control)
  if (event.detail > 1) return false
  const key = [...held.values()].find((one) => isPress(one.key))
  if (key !== undefined) {
    if (key.target === element) return mayPress(element)
    const form = control.fromField && key.target instanceof HTMLInputElement ? key.target.form : null
    return form?.contains(element) === true && now() >= control.appeared + moment
  }
  const since = control.still + moment
  // Without a key and a pointer it is assistive technology, which knows its control by name.
  if (event.detail === 0) return now() >= since
  const may =
    now() >= since && control.pointed >= since && pointerPress instanceof Node && element.contains(pointerPress)
  control.pointed = now()
  return may
}

const onClick = (event: MouseEvent) => {
  for (const [element, control] of around(event.target))
    if (control.shows && !counts(event, element, control)) stop(event)
}

/** Watches every press of the page, before any control hears of it. Once. */
export const guardPresses = (): void => {
  const first = { capture: true } as const
  addEventListener("keydown", onKeyDown, first)
  addEventListener("keypress", onRest, first)
  addEventListener("keyup", onRest, first)
  addEventListener("blur", () => held.clear())
  addEventListener("focusin", ({ target }) => place(target, "focused"), first)
  addEventListener("pointermove", onPointerMove, first)
  addEventListener("pointerdown", onPointerDown, first)
  addEventListener("scroll", lookAtAll, { capture: true, passive: true })
  addEventListener("click", onClick, first)
  every(glance, lookAtAll)
}

/** From now on it is this control; until it is removed. */
export const guard = (element: HTMLElement, { fromField = false, shows = true } = {}): (() => void) => {
  const { left, top } = element.getBoundingClientRect()
  const control = { appeared: now(), still: now(), left, top, pointed: 0, focused: 0, fromField, shows }
  controls.set(element, control)
  look(element, control)
  return () => void controls.delete(element)
}
