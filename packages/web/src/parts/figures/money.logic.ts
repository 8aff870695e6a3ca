/** Numbers and money as people read them. The house counts in US dollars. */
const numbers = new Intl.NumberFormat("en")

export const counted = (count: number): string => numbers.format(count)

/** Small sums keep their significant digits. */
export const money = (dollars: number): string => {
  const digits = dollars >= 1 || Number.isInteger(Math.round(dollars * 1e6) / 1e4) ? 2 : dollars >= 0.01 ? 3 : 5
  return `$\u00a0${dollars.toFixed(digits)}`
}
