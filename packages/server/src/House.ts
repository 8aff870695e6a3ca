/**
 * All the wiring, top to bottom: folder and store, the services on the store, access, the configuration file, and the
 * doors (`Doors.ts`). Nothing else composes layers.
 */
import { join } from "node:path"
import { Effect, Layer, Option, Redacted } from "effect"
import { Agents } from "./access/identity/Agents.ts"
import { Arrivals } from "./access/identity/Arrivals.ts"
import { AllowLists } from "./access/rights/AllowLists.ts"
import { Audit } from "./access/audit/Audit.ts"
import { EgressRules } from "./access/secrets/EgressRules.ts"
import { Environment } from "./access/secrets/Environment.ts"
import { Authority } from "./access/rights/delegation/Authority.ts"
import { Delegations } from "./access/rights/delegation/Delegations.ts"
import { Grants } from "./access/rights/Grants.ts"
import { Limits } from "./access/limits/Limits.ts"
import { Storage } from "./access/limits/Storage.ts"
import { SharedLimits } from "./access/limits/SharedLimits.ts"
import { Pauses } from "./access/limits/Pauses.ts"
import { IdempotencyKeys } from "./access/identity/IdempotencyKeys.ts"
import { Principals } from "./access/identity/Principals.ts"
import { layerAuditRetention } from "./access/audit/AuditRetention.ts"
import { Rules } from "./access/rights/Rules.ts"
import { makeRevealText } from "./access/secrets/Reveal.ts"
import { Secrets } from "./access/secrets/Secrets.ts"
import { Endings } from "./access/identity/Endings.ts"
import { Tokens } from "./access/identity/Tokens.ts"
import { Wallets } from "./access/identity/wallets/Wallets.ts"
import { WalletSignIn } from "./access/identity/wallets/WalletSignIn.ts"
import { HouseAddress } from "./calls/waiting/HouseAddress.ts"
import { layerCallRetention } from "./calls/CallRetention.ts"
import { layerErasedCalls } from "./calls/ErasedCalls.ts"
import { layerErasedRuns } from "./runs/upkeep/ErasedRuns.ts"
import { layerDeletedFiles } from "./calls/DeletedFiles.ts"
import { Calls } from "./calls/Calls.ts"
import { Explanations } from "./calls/catalogue/Explanations.ts"
import { Catalogue } from "./calls/catalogue/Catalogue.ts"
import { Hosts } from "./calls/hosts/Hosts.ts"
import { Kinds } from "./calls/kinds/Kinds.ts"
import { CallNews } from "./calls/waiting/CallNews.ts"
import { layerResume } from "./calls/waiting/Resume.ts"
import { Tools } from "./calls/catalogue/Tools.ts"
import { Configuration } from "./configuration/Configuration.ts"
import { Approvals } from "./decisions/Approvals.ts"
import { DecisionLinks } from "./decisions/DecisionLinks.ts"
import { Decisions } from "./decisions/Decisions.ts"
import { layerDecisionTimers } from "./decisions/notices/DecisionTimers.ts"
import { Notifications } from "./decisions/notices/Notifications.ts"
import { layerNotificationSender, LinkAddress } from "./decisions/notices/NotificationSender.ts"
import { SpaceMembers } from "./decisions/electorate/SpaceMembers.ts"
import { RightsChanges } from "./decisions/RightsChanges.ts"
import { Demo } from "./demo/Demo.ts"
import { doors, type Keys, version } from "./Doors.ts"
import { migrations } from "./Migrations.ts"
import { Embeddings } from "./models/Embeddings.ts"
import { Languages } from "./models/Languages.ts"
import { ModelKeys } from "./models/ModelKeys.ts"
import { ImageModels } from "./models/images/ImageModels.ts"
import { Programs } from "./programs/Programs.ts"
import { Workspaces } from "./programs/Workspaces.ts"
import { Dispatch } from "./runs/working/Dispatch.ts"
import { AgentSettings } from "./runs/AgentSettings.ts"
import { Prompts } from "./runs/Prompts.ts"
import { layerVisits } from "./runs/Visits.ts"
import { Runs } from "./runs/Runs.ts"
import { Children } from "./runs/waking/Children.ts"
import { Inbox } from "./runs/waking/Inbox.ts"
import { Triggers } from "./runs/waking/Triggers.ts"
import { Waits } from "./runs/waiting/Waits.ts"
import { layerWake, wakeReader } from "./runs/waking/Wake.ts"
import { Spend } from "./runs/spend/Spend.ts"
import { DeadLetters } from "./runs/upkeep/DeadLetters.ts"
import { layerRunRetention } from "./runs/upkeep/RunRetention.ts"
import { Watchdog } from "./runs/upkeep/Watchdog.ts"
import { Settings } from "./Settings.ts"
import { Starting } from "./start/Starting.ts"
import { tracing } from "./Tracing.ts"
import { ChatSessions } from "./sessions/ChatSessions.ts"
import { ChosenModels } from "./sessions/ChosenModels.ts"
import { layerSessionCleanup } from "./sessions/SessionCleanup.ts"
import { ActiveSpaces } from "./spaces/ActiveSpaces.ts"
import { DeclaredSpaces } from "./spaces/DeclaredSpaces.ts"
import { Embedding } from "./memory/meaning/Embedding.ts"
import { Meanings } from "./memory/meaning/Meanings.ts"
import { Engrams } from "./memory/Engrams.ts"
import { Memories } from "./memory/Memories.ts"
import { Shares } from "./memory/Shares.ts"
import { Portability } from "./memory/portability/Portability.ts"
import { layerPlans, Plans } from "./memory/plans/Plans.ts"
import { layerMemoryUpkeep } from "./memory/upkeep/MemoryUpkeep.ts"
import { layerMessageFill } from "./spaces/messages/MessageFill.ts"
import { Messages } from "./spaces/messages/Messages.ts"
import { Spaces } from "./spaces/Spaces.ts"
import { Backup } from "./store/backup/Backup.ts"
import { Files } from "./store/Files.ts"
import { Folder } from "./store/Folder.ts"
import { Journal } from "./store/journal/Journal.ts"
import { Deltas } from "./store/journal/signals/Deltas.ts"
import { Holder, SharedDatabase } from "./store/leases/Holder.ts"
import { Readers } from "./store/journal/readers/Readers.ts"
import { migrate } from "./store/Schemas.ts"
import { SearchIndex } from "./store/search/SearchIndex.ts"
import { Disk } from "./store/database/disk/Disk.ts"
import { Store } from "./store/database/Store.ts"
import { Retention } from "./store/journal/retention/Retention.ts"
import { Timers } from "./store/journal/Timers.ts"
import { opening } from "./start/Opening.ts"
import { TeamMail } from "./team/TeamMail.ts"
import { Team } from "./team/Team.ts"
import { Tree } from "./team/Tree.ts"
import { Toolsets } from "./toolsets/Toolsets.ts"
import { ServerContents } from "./servers/contents/ServerContents.ts"
import { Servers } from "./servers/Servers.ts"

const store = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings
    const folder = yield* Folder
    return Option.match(settings.database, {
      onNone: () => Store.layerSqlite(folder.database),
      onSome: (url) => Store.layerPostgres(url),
    })
  }),
)

/** The database as it is, and the backup service: enough for a restore. */
export const layerStore = Layer.unwrap(
  Effect.map(Folder, ({ path }) => Backup.layer({ program: version, migrations, folder: join(path, "backups") })),
).pipe(Layer.merge(Starting.layer), Layer.provideMerge(store))

const migrated = Layer.effectDiscard(
  Effect.flatMap(Backup, ({ beforeMigration }) => migrate({ migrations, backup: beforeMigration })),
).pipe(Layer.provideMerge(layerStore))

const foundations = Layer.mergeAll(
  Readers.layer,
  Timers.layer,
  Files.layer,
  Deltas.layer,
  SearchIndex.layer,
  Disk.layer,
  Retention.layer,
).pipe(Layer.provideMerge(Layer.merge(Journal.layer, Holder.layer)), Layer.provideMerge(migrated))

const access = (keys: Keys, file: string) =>
  Layer.mergeAll(Audit.reader, layerAuditRetention, Authority.layer, Delegations.layer, Agents.layer(file)).pipe(
    Layer.provideMerge(Layer.merge(WalletSignIn.layer, Endings.layer)),
    Layer.provideMerge(Wallets.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        Tokens.layer,
        IdempotencyKeys.layer,
        Arrivals.layer,
        Grants.layer,
        Layer.provide(Limits.layer, SharedLimits.layer),
        Storage.layer,
        Audit.layer,
        Environment.layer,
        EgressRules.layer,
        Pauses.layer,
      ),
    ),
    Layer.provideMerge(
      Layer.mergeAll(Principals.layer(file), AllowLists.layer(file), Rules.layer, Secrets.layer(keys.secret)),
    ),
    Layer.provideMerge(foundations),
  )

/**
 * Decisions and spaces are on the same floor and must not call each other; this gives decisions the members of a space.
 */
const spaceMembers = Layer.effect(
  SpaceMembers,
  Effect.gen(function* () {
    const { ownOf, peopleOf } = yield* Spaces
    const { viewerNow } = yield* Grants
    return SpaceMembers.of({
      peopleOf,
      spacesOf: ({ context, principal }) =>
        Effect.flatMap(Effect.orDie(viewerNow(principal.id, context, "spaces")), ownOf),
    })
  }),
)

/** Models and access are on the same floor and must not call each other; this gives models the values of keys. */
const modelKeys = Layer.effect(
  ModelKeys,
  Effect.map(makeRevealText, (reveal) => ModelKeys.of({ reveal })),
)

const memoryUpkeep = Layer.unwrap(Effect.map(Settings, ({ memoryDays }) => layerMemoryUpkeep(memoryDays)))

/** The second floor. */
const rooms = (keys: Keys, file: string) =>
  Layer.mergeAll(layerDecisionTimers, RightsChanges.reader, memoryUpkeep, layerPlans, layerMessageFill).pipe(
    Layer.provideMerge(RightsChanges.layer),
    Layer.provideMerge(Decisions.layer),
    Layer.provideMerge(Layer.mergeAll(Approvals.layer, DecisionLinks.layer, Notifications.layer, spaceMembers)),
    Layer.provideMerge(
      Layer.mergeAll(DeclaredSpaces.layer, Messages.layer, ServerContents.layer, Plans.layer, Portability.layer),
    ),
    Layer.provideMerge(Embedding.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        Spaces.layer(file),
        ActiveSpaces.layer,
        Servers.layer(file),
        Memories.layer,
        Shares.layer,
        Engrams.layer,
      ),
    ),
    Layer.provideMerge(Layer.provideMerge(Meanings.layer, Embeddings.layer)),
    Layer.provideMerge(Layer.provide(Languages.layer, modelKeys)),
    Layer.provideMerge(access(keys, file)),
  )

const notifications = layerNotificationSender.pipe(
  Layer.provide(
    Layer.effect(
      LinkAddress,
      Effect.map(HouseAddress, ({ known }) => LinkAddress.of({ known })),
    ),
  ),
)

const runRetention = Layer.unwrap(Effect.map(Settings, ({ runsDays }) => layerRunRetention(runsDays)))
const callRetention = Layer.unwrap(Effect.map(Settings, ({ callsDays }) => layerCallRetention(callsDays)))

/** The third floor: the road of calls. Above it runs, and the toolsets, which offer their tools to the road. */
const calls = (keys: Keys, file: string) =>
  Layer.mergeAll(
    Toolsets.layer,
    Demo.layer,
    wakeReader,
    DeadLetters.layer,
    Watchdog.layer,
    runRetention,
    layerErasedCalls,
    layerErasedRuns,
  ).pipe(
    Layer.provideMerge(Team.layer),
    Layer.provideMerge(TeamMail.layer),
    Layer.provideMerge(Tree.layer),
    Layer.provideMerge(Triggers.layer),
    Layer.provideMerge(layerWake),
    Layer.provideMerge(Dispatch.layer),
    Layer.provideMerge(
      Layer.mergeAll(Runs.layer, AgentSettings.layer, Prompts.layer, Waits.layer, Children.layer, Inbox.layer),
    ),
    Layer.provideMerge(layerVisits),
    Layer.provideMerge(Programs.layer),
    Layer.provideMerge(Workspaces.layer),
    Layer.provideMerge(
      Layer.mergeAll(layerResume, Hosts.reader, callRetention, layerDeletedFiles, notifications, layerSessionCleanup),
    ),
    Layer.provideMerge(Hosts.layer),
    Layer.provideMerge(Calls.layer),
    Layer.provideMerge(CallNews.layer),
    Layer.provideMerge(Spend.layer),
    Layer.provideMerge(Layer.mergeAll(Tools.layer(file), Explanations.layer)),
    Layer.provideMerge(Layer.mergeAll(Catalogue.layer, Kinds.layer)),
    Layer.provideMerge(Layer.mergeAll(ChatSessions.layer, ChosenModels.layer)),
    Layer.provideMerge(Layer.mergeAll(HouseAddress.layer, ImageModels.layer)),
    Layer.provideMerge(rooms(keys, file)),
  )

/** The services for a read-only inspection: nothing runs by itself, nothing writes. */
export const layerLook = (secret: Redacted.Redacted) =>
  Layer.unwrap(
    Effect.map(Settings, ({ config: file }) =>
      Layer.mergeAll(
        Readers.layer,
        Disk.layer,
        Retention.layer,
        Storage.layer,
        Audit.layer,
        AllowLists.layer(file),
      ).pipe(
        Layer.provideMerge(Layer.mergeAll(Agents.layer(file), Layer.provide(Languages.layer, modelKeys))),
        Layer.provideMerge(Grants.layer),
        Layer.provideMerge(Layer.mergeAll(Principals.layer(file), Environment.layer)),
        Layer.provideMerge(Layer.mergeAll(Rules.layer, Secrets.layer(secret))),
        Layer.provideMerge(Journal.layer),
        Layer.provideMerge(layerStore),
      ),
    ),
  )

/** Everything except the doors. */
const layerRooms = (keys: Keys) =>
  Layer.unwrap(
    Effect.map(Settings, ({ config: file }) => {
      const mustExist = file !== "stoa.config.json"
      return Configuration.layer({ file, mustExist }).pipe(Layer.provideMerge(calls(keys, file)))
    }),
  )

/** Whether other processes use the same database. */
const sharing = Layer.unwrap(Effect.map(Settings, ({ runner }) => Layer.succeed(SharedDatabase, runner === "cluster")))

/** The whole house, given its keys. */
export const layerHouse = (keys: Keys) =>
  doors(keys).pipe(
    Layer.provideMerge(opening(keys)),
    Layer.provideMerge(layerRooms(keys)),
    Layer.provideMerge(Layer.merge(tracing, sharing)),
  )
