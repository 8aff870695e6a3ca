/** Which card shows a result: by the tool's `customUI`, then by its name; undefined if the generic line is enough. */
import type { Json, MessageCall } from "../../feed/types.ts"
import { isFields } from "../../parts/form/json.logic.ts"
import { isHouseFile } from "../../parts/text/address.logic.ts"

const cardKinds = ["product", "weather", "chart", "map", "image", "file", "table"] as const
export type CardKind = (typeof cardKinds)[number]
export type Fields = Readonly<Record<string, Json>>

const isKind = (word: string): word is CardKind => (cardKinds as ReadonlyArray<string>).includes(word)

/** A server's structured content, or the value itself. */
export const valueOf = (call: MessageCall): Json | undefined => {
  const { output } = call
  if (isFields(output) && "structuredContent" in output) return output["structuredContent"]
  return output
}

const rowsIn = (value: Json | undefined): ReadonlyArray<Fields> | undefined => {
  const list = Array.isArray(value)
    ? value
    : isFields(value)
      ? Object.values(value).find((one) => Array.isArray(one))
      : undefined
  return Array.isArray(list) && list.length > 0 && list.every(isFields) ? list : undefined
}

/** What a result must contain for each kind of card. */
const fits: Readonly<Record<CardKind, (value: Json | undefined) => boolean>> = {
  product: (value) => isFields(value) && typeof value["name"] === "string" && "price" in value,
  weather: (value) => isFields(value) && typeof value["temperature"] === "number",
  chart: (value) => seriesIn(value) !== undefined,
  map: (value) => mapPointsIn(value).length > 0,
  image: (value) => imageIn(value) !== undefined,
  file: (value) => isFields(value) && typeof value["file"] === "string" && typeof value["size"] === "number",
  table: (value) => rowsIn(value) !== undefined,
}

export const kindFor = (call: MessageCall): CardKind | undefined => {
  const value = valueOf(call)
  if (value === undefined) return undefined
  const said = call.customUI?.toLowerCase().replace(/-?card$/, "")
  const named = call.tool
    .toLowerCase()
    .split(/[/_.-]/)
    .find(isKind)
  const wanted = said !== undefined && isKind(said) ? said : named
  if (wanted !== undefined && fits[wanted](value)) return wanted
  return fits.file(value) ? "file" : fits.image(value) ? "image" : undefined
}

export const tableIn = (value: Json | undefined) => {
  const rows = rowsIn(value) ?? []
  const columns = [...new Set(rows.slice(0, 50).flatMap((row) => Object.keys(row)))].slice(0, 8)
  return { columns, rows }
}

export interface Series {
  readonly x: ReadonlyArray<number>
  readonly labels: ReadonlyArray<string>
  readonly y: ReadonlyArray<number>
}

/** `{ points: [[x, y], …] }` or a list of objects with a number each. */
export const seriesIn = (value: Json | undefined): Series | undefined => {
  const list = isFields(value) ? (value["points"] ?? value["series"] ?? value["values"]) : value
  if (!Array.isArray(list) || list.length < 2) return undefined
  const points = list.map((one, at) => {
    if (typeof one === "number") return { label: String(at + 1), y: one }
    if (Array.isArray(one) && typeof one[1] === "number") return { label: String(one[0] as string | number), y: one[1] }
    if (!isFields(one)) return undefined
    const y = Object.values(one).find((part) => typeof part === "number")
    const label = Object.values(one).find((part) => typeof part === "string")
    return typeof y === "number" ? { label: typeof label === "string" ? label : String(at + 1), y } : undefined
  })
  if (points.some((one) => one === undefined)) return undefined
  const all = points as ReadonlyArray<{ readonly label: string; readonly y: number }>
  return { x: all.map((_, at) => at), labels: all.map(({ label }) => label), y: all.map(({ y }) => y) }
}

export interface MapPoint {
  readonly name: string
  readonly lat: number
  readonly lon: number
}

const spot = (one: Json): ReadonlyArray<MapPoint> => {
  if (!isFields(one)) return []
  const lat = one["lat"] ?? one["latitude"]
  const lon = one["lon"] ?? one["lng"] ?? one["longitude"]
  if (typeof lat !== "number" || typeof lon !== "number" || Math.abs(lat) > 90 || Math.abs(lon) > 180) return []
  return [{ lat, lon, name: typeof one["name"] === "string" ? one["name"] : `${lat}, ${lon}` }]
}

export const mapPointsIn = (value: Json | undefined): ReadonlyArray<MapPoint> => {
  if (value === undefined) return []
  const list = Array.isArray(value)
    ? value
    : isFields(value)
      ? (Object.values(value).find((one) => Array.isArray(one)) ?? [value])
      : []
  return (list as ReadonlyArray<Json>).flatMap(spot)
}

/** A file of the house, or an image contained in the result: a browser asks for it as soon as it is drawn. */
export const imageIn = (value: Json | undefined): { readonly src: string; readonly alt: string } | undefined => {
  if (!isFields(value)) return undefined
  const alt =
    typeof value["alt"] === "string" ? value["alt"] : typeof value["prompt"] === "string" ? value["prompt"] : ""
  const src = value["image"] ?? value["url"] ?? value["src"]
  if (typeof src === "string" && (/^data:image\/(?:png|jpeg|gif|webp);base64,/.test(src) || isHouseFile(src)))
    return { src, alt }
  const { data, mimeType } = value
  return typeof data === "string" && typeof mimeType === "string" && /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)
    ? { src: `data:${mimeType};base64,${data}`, alt }
    : undefined
}
