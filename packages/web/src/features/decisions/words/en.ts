export const words = {
  title: "Decisions",
  nothing: "Nothing waits for you.",
} as const
