/** Places on a grid of degrees, drawn here: no map tiles are fetched, so nobody learns what was viewed. */
import type { MapPoint } from "./kinds.logic.ts"
import { words } from "./words/en.ts"

const [width, height] = [480, 220]

const stepFor = (span: number): number => [0.1, 0.5, 1, 2, 5, 10, 30].find((step) => span / step <= 8) ?? 45

const ticks = (from: number, to: number, step: number): ReadonlyArray<number> =>
  Array.from(
    { length: Math.floor(to / step) - Math.ceil(from / step) + 1 },
    (_, at) => (Math.ceil(from / step) + at) * step,
  )

export const MapCard = ({ points }: { readonly points: ReadonlyArray<MapPoint> }) => {
  const [lats, lons] = [points.map(({ lat }) => lat), points.map(({ lon }) => lon)]
  const pad = Math.max(
    0.5,
    (Math.max(...lons) - Math.min(...lons)) * 0.25,
    (Math.max(...lats) - Math.min(...lats)) * 0.35,
  )
  const [west, east] = [Math.min(...lons) - pad, Math.max(...lons) + pad]
  const [south, north] = [Math.min(...lats) - pad, Math.max(...lats) + pad]
  const x = (lon: number) => ((lon - west) / (east - west)) * width
  const y = (lat: number) => ((north - lat) / (north - south)) * height
  return (
    <svg
      className="map"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={words.map(points.map(({ name }) => name).join(", "))}
    >
      {ticks(west, east, stepFor(east - west)).map((lon) => (
        <g key={`x${lon}`}>
          <line x1={x(lon)} x2={x(lon)} y1={0} y2={height} />
          <text x={x(lon) + 3} y={height - 4}>{`${Math.abs(Number(lon.toFixed(1)))}°${lon < 0 ? "W" : "E"}`}</text>
        </g>
      ))}
      {ticks(south, north, stepFor(north - south)).map((lat) => (
        <g key={`y${lat}`}>
          <line x1={0} x2={width} y1={y(lat)} y2={y(lat)} />
          <text x={3} y={y(lat) - 3}>{`${Math.abs(Number(lat.toFixed(1)))}°${lat < 0 ? "S" : "N"}`}</text>
        </g>
      ))}
      {points.map(({ lat, lon, name }) => (
        <g key={`${name} ${lat} ${lon}`} className="spot">
          <circle cx={x(lon)} cy={y(lat)} r={5} />
          <text x={x(lon) + 9} y={y(lat) + 4}>
            {name}
          </text>
        </g>
      ))}
    </svg>
  )
}
