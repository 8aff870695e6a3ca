/** A result as a special card. It gets the call and never fetches. */
import { lazy, Suspense } from "react"
import type { Json, MessageCall } from "../../feed/types.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { type CardKind, type Fields, imageIn, mapPointsIn, seriesIn, valueOf } from "./kinds.logic.ts"
import { MapCard } from "./MapCard.tsx"
import { ProductCard } from "./ProductCard.tsx"
import { TableCard } from "./TableCard.tsx"
import { WeatherCard } from "./WeatherCard.tsx"
import { words } from "./words/en.ts"

const ChartCard = lazy(() => import("./ChartCard.tsx").then(({ ChartCard }) => ({ default: ChartCard })))

const FileCard = ({ value }: { readonly value: Fields }) => (
  <p className="line">
    <Icon name="file-text" />
    <span className="cut">{typeof value["name"] === "string" ? value["name"] : words.file}</span>
    <span className="faint small">
      {words.bytes(value["size"] as number)} {typeof value["mediaType"] === "string" ? value["mediaType"] : ""}
    </span>
  </p>
)

const Inside = ({ kind, value }: { readonly kind: CardKind; readonly value: Json }) => {
  switch (kind) {
    case "product":
      return <ProductCard value={value as Fields} />
    case "weather":
      return <WeatherCard value={value as Fields} />
    case "map":
      return <MapCard points={mapPointsIn(value)} />
    case "table":
      return <TableCard value={value} />
    case "file":
      return <FileCard value={value as Fields} />
    case "image": {
      const image = imageIn(value)!
      return <img className="made" src={image.src} alt={image.alt || words.image} />
    }
    case "chart":
      return (
        <Suspense fallback={<div className="chart" />}>
          <ChartCard series={seriesIn(value)!} />
        </Suspense>
      )
  }
}

export const KindCard = ({ call, kind }: { readonly call: MessageCall; readonly kind: CardKind }) => (
  <div className="kind-card" data-card={kind}>
    <Inside kind={kind} value={valueOf(call)!} />
  </div>
)
