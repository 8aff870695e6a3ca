export const words = {
  title: "A decision is asked of you",
  as: (name: string) => `You answer as ${name}.`,
  somebody: "somebody else",
  thanks: "Thank you. The house has your answer, and this link is used up.",
  product: "Stoa",
} as const
