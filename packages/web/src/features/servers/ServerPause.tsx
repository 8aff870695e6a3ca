/** The off switch of a server: a pause, with a reason that everybody can read. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useNames } from "../../feed/start.ts"
import { ClockTime } from "../../parts/figures/Time.tsx"
import { ReasonForm } from "../../parts/form/ReasonForm.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { words } from "./words/en.ts"

const subjectOf = (server: string): string => `servers/${server}`

export const usePauseOf = (server: string) =>
  useQuery({
    queryKey: ["pauses"],
    queryFn: async () => (await house.pauses.list()).items,
    select: (all) => all.find(({ subject }) => subject === subjectOf(server)),
    retry: false,
  }).data

const changed = () => cache.invalidateQueries({ queryKey: ["pauses"] })

export const ServerPauseButton = ({ ask, asks }: { readonly asks: boolean; readonly ask: (open: boolean) => void }) => (
  <button type="button" className="button" aria-expanded={asks} onClick={() => ask(!asks)}>
    <Icon name="circle-pause" small />
    {words.pause}
  </button>
)

export const ServerPauseForm = ({ close, server }: { readonly server: string; readonly close: () => void }) => (
  <ReasonForm
    sure={words.pauseSure(server)}
    why={words.pauseWhy}
    submit={words.pauseIt}
    cancel={words.cancel}
    close={close}
    onSubmit={(reason) =>
      house.pauses.set({ subject: subjectOf(server), ...(reason === "" ? {} : { reason }) }).then(changed)
    }
  />
)

type Pause = NonNullable<ReturnType<typeof usePauseOf>>

export const ServerPausedNote = ({ pause: { by, createdAt, reason, subject } }: { readonly pause: Pause }) => {
  const names = useNames()
  const lifted = useMutation({ mutationFn: () => house.pauses.lift(subject), onSuccess: changed })
  return (
    <div className="note line wrap" data-tone="bad" role="status">
      <Icon name="circle-pause" small />
      <span>
        <strong>{words.paused(names(by))}</strong> <ClockTime at={createdAt} />
        {reason === "" ? "." : words.pausedWhy(reason)}
      </span>
      <button type="button" className="button tiny push" disabled={lifted.isPending} onClick={() => lifted.mutate()}>
        {words.resume}
      </button>
      {lifted.error === null ? null : <FaultPane error={lifted.error} />}
    </div>
  )
}
