export const words = {
  feels: (degrees: number) => `feels like ${degrees}°`,
  wind: (speed: string) => `wind ${speed}`,
  humidity: (percent: number) => `humidity ${percent} %`,
  available: "available",
  soldOut: "sold out",
  asTable: "As a table",
  moreRows: (count: number) => `${count} more rows`,
  chart: (from: string, to: string, low: number, high: number) =>
    `A line from ${from} to ${to}, between ${low} and ${high}`,
  map: (names: string) => `A map with ${names}`,
  image: "An image the tool made",
  file: "File",
  download: "Open",
  bytes: (size: number) =>
    new Intl.NumberFormat("en", { style: "unit", unit: "byte", notation: "compact", unitDisplay: "narrow" }).format(
      size,
    ),
  name: "name",
  value: "value",
} as const
