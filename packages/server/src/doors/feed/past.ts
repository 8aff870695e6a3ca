/**
 * Reading past events, in turns. A page blocks others for a moment, so pages are small and paced: however much somebody
 * reads, others get most of the time. Nothing is buffered while a reader is slow.
 */
import { Pacing } from "../../store/Pacing.ts"

/** Events a page: a few milliseconds of work. */
export const pastPage = 100
/** How long a reader of the past may take for what it was sent. */
export const patience = "30 seconds"

export const makePast = (): Pacing => new Pacing({ least: 0, longest: 100, always: true })
