/** A guide, shown beside its subject. */
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { StoaError } from "@stoa/sdk"
import { Header } from "../../layout/Header.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { Text } from "../../parts/text/Text.tsx"
import { sectionsOf } from "./help.logic.ts"
import { words } from "./words/en.ts"

const read = async (page: string) => {
  const response = await fetch(`/docs/guide/${encodeURIComponent(page)}`)
  if (!response.ok) throw new StoaError(response.status, (await response.json()) as Record<string, unknown>)
  return sectionsOf(await response.text())
}

export const HelpScreen = () => {
  const { page } = useParams({ from: "/house/help/$page" })
  const { data, error, isPending, refetch } = useQuery({ queryKey: ["guide", page], queryFn: () => read(page) })
  return (
    <>
      <Header title={data?.title ?? words.title} up="/house" />
      <div className="scroll grow">
        <div className="page stack">
          {isPending ? <LoadingPane lines={8} /> : null}
          {error === null ? null : <FaultPane error={error} again={() => void refetch()} />}
          {data?.sections.map((section) => (
            <Text key={section} text={section} names={[]} me="" />
          ))}
          <p className="small">
            <a href="/docs">{words.api}</a>
          </p>
        </div>
      </div>
    </>
  )
}
