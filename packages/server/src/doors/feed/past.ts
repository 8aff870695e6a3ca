/**
 * Reads past events in turns. A page blocks others for a moment, so pages are small and paced: however much one client
 * reads, others get most of the time. Nothing is buffered while a client is slow.
 */
import { Pacing } from "../../store/fibers/Pacing.ts"

/** Events per page: a few milliseconds of work. */
export const pastPage = 100
/** How long a client that reads the past may take to receive a page. */
export const maxWait = "30 seconds"

export const makePast = (): Pacing => new Pacing({ least: 0, longest: 100, always: true })
