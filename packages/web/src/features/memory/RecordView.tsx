/** One record: its text, its origin, what each version changed, and how to restore one. */
import { houseKindOf } from "@stoa/contract"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useNames, usePeople, useStart } from "../../feed/start.ts"
import type { MemoryRecord, MemoryVersion } from "../../feed/types.ts"
import { Diff } from "../../parts/text/Diff.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { counted } from "../../parts/figures/money.logic.ts"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { Text } from "../../parts/text/Text.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { Confirmation } from "../../parts/press/Confirmation.tsx"
import { RecordActions } from "./RecordActions.tsx"
import { Editor } from "./Editor.tsx"
import { PromptExcerpts, type AgentExcerpts, usePromptExcerpts } from "./PromptExcerpts.tsx"
import { firstLine, groupOf, rightsOf } from "./memory.logic.ts"
import { memoryChanged, useHistory, useRecord, useShares } from "./useMemory.ts"
import { words } from "./words/en.ts"

interface FactsProps {
  readonly record: MemoryRecord
  readonly mine: boolean
  readonly excerpts: AgentExcerpts
}

const Facts = ({ mine, excerpts, record }: FactsProps) => {
  const names = useNames()
  const { data: shares = [] } = useShares(record.id)
  return (
    <p className="faint small">
      {excerpts.length === 0 ? "" : `${words.partOf(excerpts.map(({ agent }) => agent).join(", "))} · `}
      {words.facts(counted(record.content.length))}
      {!mine || shares.length === 0
        ? ""
        : ` · ${words.sharedWith(shares.map(({ principal }) => names(principal)).join(", "))}`}
      {` · ${words.changedBy(names(record.origin.principal))}, `}
      <AgoTime at={record.updatedAt} said />
      {record.tags.length === 0 ? null : " · "}
      {record.tags.map((tag) => (
        <span key={tag} className="tag">
          {tag}
        </span>
      ))}
    </p>
  )
}

/** The call that wrote it, by the name of its tool, with a link to its run. */
const FromCall = ({ call }: { readonly call: string }) => {
  const { data } = useQuery({ queryKey: ["calls", call], queryFn: () => house.calls.get(call), retry: false })
  if (data === undefined) return ` ${words.wroteCall}`
  return (
    <>
      {" "}
      {words.wroteWith} <code>{data.tool}</code>
      {data.run === undefined ? null : (
        <>
          {" "}
          {words.wroteIn}{" "}
          <Link to="/runs/$run" params={{ run: data.run.id }}>
            {words.aRun}
          </Link>
        </>
      )}
    </>
  )
}

const Origin = ({ version }: { readonly version: MemoryVersion }) => {
  const names = useNames()
  const { call, message, principal } = version.origin
  return (
    <p className="note">
      <Icon name="link" small />
      <span>
        {words.wroteBy(names(principal))} <AgoTime at={version.at} said />
        {call === null ? null : <FromCall call={call} />}
        {message === null ? "" : ` ${words.wroteMessage}`}.
      </span>
    </p>
  )
}

interface VersionChangesProps {
  readonly record: MemoryRecord
  readonly versions: ReadonlyArray<MemoryVersion>
  readonly at: number
  readonly may: boolean
}

const VersionChanges = ({ at, may, record, versions }: VersionChangesProps) => {
  const [asks, ask] = useState(false)
  const [fault, fail] = useState<unknown>()
  const now = versions.find(({ version }) => version === at)
  const [other, compare] = useState(at - 1)
  const [side, setSide] = useState(false)
  const before = versions.find(({ version }) => version === other)
  if (now === undefined) return null
  // On the newest version this restores the previous one; on an older version, that version.
  const to = at === record.version ? at - 1 : at
  const revert = async () => {
    await house.memory.revert(record.id, { version: to })
    await memoryChanged()
    ask(false)
  }
  return (
    <>
      <div className="line wrap">
        <h3>{words.whatChanged(at)}</h3>
        {versions.length < 3 ? null : (
          <label className="line small faint">
            {words.since}
            <select
              className="input memory-since"
              value={other}
              onChange={({ target }) => compare(Number(target.value))}
            >
              {versions
                .filter(({ version }) => version !== at)
                .map(({ version }) => (
                  <option key={version} value={version}>
                    {words.versionLong(version)}
                  </option>
                ))}
            </select>
          </label>
        )}
        {before === undefined ? null : (
          <button
            type="button"
            className="button tiny plain wide-only"
            aria-pressed={side}
            onClick={() => setSide(!side)}
          >
            {words.sideBySide}
          </button>
        )}
        {may && to >= 1 ? (
          <button type="button" className="button tiny push" aria-expanded={asks} onClick={() => ask(!asks)}>
            <Icon name="undo-2" small />
            {words.revert(to)}
          </button>
        ) : null}
      </div>
      {asks ? (
        <Confirmation label={words.revertSure(to, record.version + 1)} close={() => ask(false)}>
          <span>{words.revertSure(to, record.version + 1)}</span>
          <ActButton of={record.id} className="button tiny main-act" onClick={() => void revert().catch(fail)}>
            {words.revert(to)}
          </ActButton>
          <button type="button" className="button tiny plain" data-first onClick={() => ask(false)}>
            {words.cancel}
          </button>
        </Confirmation>
      ) : null}
      {fault === undefined ? null : <FaultPane error={fault} />}
      {before === undefined ? (
        <p className="faint small">{words.firstVersion}</p>
      ) : (
        <Diff before={before.content} after={now.content} label={words.diffLabel(other, at)} side={side} />
      )}
      <Origin version={now} />
    </>
  )
}

const History = ({
  at,
  id,
  versions,
}: {
  readonly id: string
  readonly at: number
  readonly versions: ReadonlyArray<MemoryVersion>
}) => {
  const names = useNames()
  const people = usePeople()
  const { owner, q } = useSearch({ strict: false })
  const filter = { ...(owner === undefined ? {} : { owner }), ...(q === undefined ? {} : { q }) }
  return (
    <aside className="scroll memory-history" aria-label={words.history}>
      <h3 className="label memory-label">{words.history}</h3>
      <ul className="rows">
        {versions.map((one) => (
          <li key={one.version}>
            <Link
              className="pick"
              to="/memory/$id"
              params={{ id }}
              search={{ ...filter, version: one.version }}
              replace
              {...(one.version === at ? { "aria-current": "true" as const } : {})}
            >
              <Avatar
                name={names(one.origin.principal)}
                kind={people.find((who) => who.id === one.origin.principal)?.kind ?? "person"}
                size="s"
              />
              <b>{words.versionLong(one.version)}</b>
              <AgoTime at={one.at} />
              <span className="sub cut">{firstLine(one.content)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </aside>
  )
}

export const RecordView = ({ id }: { readonly id: string }) => {
  const { me } = useStart()
  const { owner, q, version } = useSearch({ strict: false })
  const filter = { ...(owner === undefined ? {} : { owner }), ...(q === undefined ? {} : { q }) }
  const navigate = useNavigate()
  const { data: record, error, isPending, refetch } = useRecord(id)
  const { data: history } = useHistory(id)
  const { data: shares = [] } = useShares(id)
  const [edits, edit] = useState(false)
  const [draft, write] = useState<string>()
  const excerpts = usePromptExcerpts(record)
  if (isPending) return <LoadingPane lines={6} />
  // What somebody is editing stays on screen, whatever happens to the record.
  if (record === undefined) return <FaultPane error={error} again={() => void refetch()} />
  const versions = (history ?? []).toSorted((a, b) => b.version - a.version)
  const at = typeof version === "number" ? version : record.version
  // Impossible actions are not drawn.
  const may = rightsOf(record, me.id, shares)
  const byHouse = houseKindOf(record)
  const shown = versions.find((one) => one.version === at) ?? record
  return (
    <div className="split list-first memory-inner">
      <div className="scroll">
        <div className="page stack memory-record">
          <div className="line wrap">
            <h2>{record.key}</h2>
            <span className="pill">
              <Icon name={groupOf(record) === "block" ? "layers" : "file-text"} />
              {record.kind}
            </span>
            {record.pinned ? (
              <span className="pill">
                <Icon name="pin" />
                {words.pinned}
              </span>
            ) : null}
            {record.public ? <span className="pill">{words.public}</span> : null}
            {record.deletedAt === null ? null : (
              <span className="pill" data-tone="bad">
                {words.deleted}
              </span>
            )}
            {edits || !may.write ? null : (
              <button type="button" className="button push" onClick={() => edit(true)}>
                <Icon name="pencil" small />
                {words.edit}
              </button>
            )}
          </div>
          <Facts record={record} mine={may.own} excerpts={excerpts} />
          {edits ? (
            <Editor
              record={record}
              wrote={write}
              done={() => {
                edit(false)
                write(undefined)
                // The newest version is shown next.
                void navigate({ to: "/memory/$id", params: { id }, search: filter })
              }}
            />
          ) : (
            <div className="card">
              <div className="in say memory-text">
                <Text text={shown.content} names={[]} me={me.name} />
              </div>
            </div>
          )}
          {byHouse === undefined ? null : <p className="note">{words.byHouse[byHouse]}</p>}
          {may.own ? <RecordActions record={record} rules={may.rule} /> : null}
          <VersionChanges
            key={`${record.version} ${at}`}
            record={record}
            versions={versions}
            at={at}
            may={may.write && !edits}
          />
        </div>
      </div>
      {edits && excerpts.length > 0 ? (
        <PromptExcerpts excerpts={excerpts} text={draft ?? record.content} />
      ) : (
        <History id={id} at={at} versions={versions} />
      )}
    </div>
  )
}
