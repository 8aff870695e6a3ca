/**
 * A moment of real time, for tests that can only ask again (another process, a socket). Asking without a pause takes the
 * processor from what is waited for. Whatever can tell is waited for instead: a reader's receipt, the journal's bell.
 */
export const pause = (): Promise<void> => new Promise((next) => setTimeout(next, 10))
