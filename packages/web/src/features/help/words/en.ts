export const words = {
  title: "Help",
  api: "The API of this house",
} as const
