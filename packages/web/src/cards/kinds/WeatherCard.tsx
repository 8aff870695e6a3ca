import type { Fields } from "./kinds.logic.ts"
import { words } from "./words/en.ts"

const text = (value: unknown) => (typeof value === "string" ? value : undefined)

export const WeatherCard = ({ value }: { readonly value: Fields }) => {
  const { feelsLike, humidity, temperature, wind } = value
  const place = text(value["city"]) ?? text(value["place"]) ?? text(value["location"])
  const sky = text(value["condition"]) ?? text(value["description"]) ?? text(value["summary"])
  return (
    <div className="line wrap weather">
      <span className="figure">{`${Math.round(temperature as number)}°`}</span>
      <span className="stack tight">
        <b>{place}</b>
        <span className="soft">{sky}</span>
      </span>
      <span className="push small faint">
        {[
          typeof feelsLike === "number" ? words.feels(Math.round(feelsLike)) : undefined,
          typeof wind === "number" || typeof wind === "string" ? words.wind(String(wind)) : undefined,
          typeof humidity === "number" ? words.humidity(humidity) : undefined,
        ]
          .filter((one) => one !== undefined)
          .join(" · ")}
      </span>
    </div>
  )
}
