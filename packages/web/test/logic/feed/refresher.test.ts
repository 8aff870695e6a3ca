/** What happens while a list is read for the first time is in it afterwards. */
import { QueryClient, QueryObserver } from "@tanstack/react-query"
import { expect, it } from "vitest"
import { makeRefresher } from "../../../src/feed/events/refresher.ts"

it("an event that comes during the first reading makes it be read once more", async () => {
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } })
  const answers: Array<(value: string) => void> = []
  const observer = new QueryObserver(cache, {
    queryKey: ["approvals"],
    queryFn: () => new Promise<string>((answer) => void answers.push(answer)),
  })
  const end = observer.subscribe(() => {})
  await expect.poll(() => answers.length).toBe(1)
  const done = makeRefresher(cache)(["approvals"])
  answers[0]!("as it was before")
  await expect.poll(() => answers.length).toBe(2)
  answers[1]!("as it is")
  await done
  expect(cache.getQueryData(["approvals"])).toBe("as it is")
  end()
  cache.clear()
})
