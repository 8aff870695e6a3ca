import type { Fields } from "./kinds.logic.ts"
import { words } from "./words/en.ts"

const priceOf = ({ currency, price }: Fields): string => {
  if (typeof price !== "number") return typeof price === "string" ? price : ""
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency)) return String(price)
  return new Intl.NumberFormat(undefined, { style: "currency", currency }).format(price)
}

export const ProductCard = ({ value }: { readonly value: Fields }) => {
  const { available, description, name } = value
  return (
    <div className="stack tight">
      <p className="line">
        <b>{typeof name === "string" ? name : ""}</b>
        <span className="push strong num">{priceOf(value)}</span>
      </p>
      {typeof description === "string" ? <p className="soft small">{description}</p> : null}
      {typeof available === "boolean" ? (
        <p>
          <span className="pill" data-tone={available ? "good" : undefined}>
            {available ? words.available : words.soldOut}
          </span>
        </p>
      ) : null}
    </div>
  )
}
