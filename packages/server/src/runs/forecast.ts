/** What a day will have cost at its end, if the rest goes on as the last six hours did. Pure. */
const sixHours = 6 * 3_600_000

/** Rounded to what is counted, a millionth of a dollar. */
export const forecastOf = (today: number, ofSixHours: number, millisLeft: number): number =>
  Math.round((today + (ofSixHours / sixHours) * millisLeft) * 1e6) / 1e6
