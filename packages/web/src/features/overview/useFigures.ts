/** Queries for Overview: repeated periodically, because most of the data causes no event. */
import { useQuery } from "@tanstack/react-query"
import { cache } from "../../feed/cache.ts"
import { moment, now } from "../../feed/clock.ts"
import { house } from "../../feed/house.ts"
import { type PeriodName, periods } from "./overview.logic.ts"

const often = 10_000

export const useFigures = (span: PeriodName) =>
  useQuery({
    queryKey: ["figures", span],
    queryFn: () => {
      const { millis, step } = periods[span]
      return house.house.figures({ from: moment(now() - millis).toISOString(), step })
    },
    staleTime: often,
    refetchInterval: often,
    placeholderData: (before) => before,
  })

export type Figures = NonNullable<ReturnType<typeof useFigures>["data"]>

/** Users who may not see pauses get none. */
export const usePaused = () =>
  useQuery({
    queryKey: ["pauses"],
    queryFn: async () => (await house.pauses.list()).items,
    retry: false,
    select: (all) => all.find(({ subject }) => subject === "everything"),
  }).data

export const figuresChanged = (): Promise<void> => cache.invalidateQueries({ queryKey: ["figures"] })
export const pausesChanged = (): Promise<void> => cache.invalidateQueries({ queryKey: ["pauses"] })

/** A backup, saved by the browser as a file. */
export const saveBackup = async (): Promise<void> => {
  const bytes = await new Response(await house.house.backup({})).blob()
  const link = document.createElement("a")
  link.href = URL.createObjectURL(bytes)
  link.download = `stoa-${moment(now()).toISOString().slice(0, 10)}.db`
  link.click()
  URL.revokeObjectURL(link.href)
  await figuresChanged()
}
