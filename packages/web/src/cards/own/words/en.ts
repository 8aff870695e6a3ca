export const words = {
  card: (name: string, tool: string) => `${tool}, shown by the card ${name}`,
} as const
