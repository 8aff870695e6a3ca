/**
 * How much of a model's window each part of its prompt may take, in tokens. What is left, at least a fifth, is for what
 * it says and for the results of its tools. Pure.
 */
const shares = {
  persona: 1 / 16,
  memory: 1 / 4,
  /** The texts that woke it. */
  triggers: 1 / 8,
  history: 1 / 8,
  /** What its caller was told. */
  context: 1 / 16,
  tools: 1 / 8,
  /** What it is told between two steps. */
  news: 1 / 16,
  /** One result of a tool. */
  result: 1 / 8,
} as const

export const tokensFor = (part: keyof typeof shares, window: number): number => Math.floor(window * shares[part])
