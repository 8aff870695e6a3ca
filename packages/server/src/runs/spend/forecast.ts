/** What a day will have cost at its end, if the rest continues like the last six hours. Pure. */
const sixHours = 6 * 3_600_000

/** Rounded to the unit of counting, a millionth of a dollar. */
export const forecastOf = (today: number, ofSixHours: number, millisLeft: number): number =>
  Math.round((today + (ofSixHours / sixHours) * millisLeft) * 1e6) / 1e6
