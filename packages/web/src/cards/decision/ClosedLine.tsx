/** Beside a call: how its question was answered, loaded on demand. */
import { useQuery } from "@tanstack/react-query"
import { keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { HouseDecision } from "./HouseDecision.tsx"

export const ClosedLine = ({ id }: { readonly id: string }) => {
  const { data } = useQuery({ queryKey: keys.decision(id), queryFn: () => house.decisions.get(id), retry: false })
  return data === undefined ? null : <HouseDecision decision={data} />
}
