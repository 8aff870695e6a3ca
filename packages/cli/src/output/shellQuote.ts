/** A word as a shell takes it. Pure. */
export const shellQuote = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
