/**
 * Every migration, in order. Listed by hand, because a bundle has no folder to read, and the order should be explicit.
 */
import teamAgents from "./access/migrations/0095_team_agents.ts"
import tokensEnd from "./access/migrations/0136_tokens_end.ts"
import turns from "./access/migrations/0093_turns.ts"
import sessions from "./access/migrations/0075_sessions.ts"
import sessionsApart from "./access/migrations/0076_sessions_apart.ts"
import access from "./access/migrations/0002_access.ts"
import auditCalls from "./access/migrations/0018_audit_calls.ts"
import causers from "./runs/migrations/0153_causers.ts"
import spellings from "./access/migrations/0139_spellings.ts"
import usedStates from "./access/migrations/0168_used_states.ts"
import orderOfActs from "./access/migrations/0169_order_of_acts.ts"
import called from "./access/migrations/0173_called.ts"
import delegationsToken from "./access/migrations/0137_delegations_token.ts"
import loans from "./access/migrations/0016_loans.ts"
import origins from "./access/migrations/0050_origins.ts"
import wallets from "./access/migrations/0053_wallets.ts"
import pauses from "./access/migrations/0007_pauses.ts"
import agents from "./access/migrations/0061_agents.ts"
import auditHead from "./access/migrations/0040_audit_head.ts"
import calls from "./calls/migrations/0006_calls.ts"
import hosts from "./calls/migrations/0008_hosts.ts"
import callRuns from "./calls/migrations/0021_call_runs.ts"
import questions from "./calls/migrations/0011_questions.ts"
import rightsChanges from "./decisions/migrations/0017_changes.ts"
import decisions from "./decisions/migrations/0004_decisions.ts"
import voters from "./decisions/migrations/0052_voters.ts"
import reasons from "./decisions/migrations/0103_reasons.ts"
import spaces from "./spaces/migrations/0003_spaces.ts"
import activeSpaces from "./spaces/migrations/0009_active_spaces.ts"
import spaceNames from "./spaces/migrations/0032_space_names.ts"
import declaredSpaces from "./spaces/migrations/0010_declared_spaces.ts"
import retiredSpaces from "./spaces/migrations/0138_retired_spaces.ts"
import messageWords from "./spaces/migrations/0058_message_words.ts"
import openers from "./spaces/migrations/0051_openers.ts"
import messageAuthors from "./spaces/migrations/0131_message_authors.ts"
import demo from "./demo/migrations/0110_demo.ts"
import modelSources from "./models/migrations/0111_model_sources.ts"
import models from "./models/migrations/0062_models.ts"
import authors from "./memory/migrations/0163_authors.ts"
import offers from "./memory/migrations/0164_offers.ts"
import erasures from "./memory/migrations/0060_erasures.ts"
import plans from "./memory/migrations/0059_plans.ts"
import letterReaders from "./runs/migrations/0078_letter_readers.ts"
import planRuns from "./memory/migrations/0077_plan_runs.ts"
import memory from "./memory/migrations/0031_memory.ts"
import replies from "./runs/migrations/0064_replies.ts"
import teams from "./team/migrations/0096_teams.ts"
import programSessions from "./runs/migrations/0094_program_sessions.ts"
import subAgents from "./runs/migrations/0065_sub_agents.ts"
import payers from "./runs/migrations/0086_payers.ts"
import callResume from "./calls/migrations/0130_call_resume.ts"
import callTools from "./calls/migrations/0126_call_tools.ts"
import journalKinds from "./store/migrations/0129_journal_kinds.ts"
import openRuns from "./runs/migrations/0128_open_runs.ts"
import copiedCalls from "./calls/migrations/0127_copied_calls.ts"
import sessionRuns from "./runs/migrations/0125_session_runs.ts"
import houseKey from "./access/migrations/0085_house_key.ts"
import runs from "./runs/migrations/0063_runs.ts"
import type { Migrations } from "./store/Schemas.ts"
import servers from "./servers/migrations/0005_upstreams.ts"
import pinnedAt from "./servers/migrations/0104_pinned_at.ts"
import journal from "./store/migrations/0001_journal.ts"
import holders from "./store/migrations/0020_holders.ts"
import journalSpace from "./store/migrations/0012_journal_space.ts"
import search from "./store/migrations/0030_search.ts"
import retention from "./store/migrations/0041_retention.ts"
import eventVersion from "./store/migrations/0042_event_version.ts"
import searchVectors from "./store/migrations/0080_search_vectors.ts"
import newest from "./memory/migrations/0082_newest.ts"
import memoryTexts from "./memory/migrations/0158_memory_texts.ts"
import storage from "./access/migrations/0159_storage.ts"
import embedding from "./memory/migrations/0081_embedding.ts"
import runTimes from "./runs/migrations/0115_run_times.ts"
import decisionTimes from "./decisions/migrations/0116_decision_times.ts"
import maxReach from "./decisions/migrations/0145_max_reach.ts"
import searchOrder from "./store/migrations/0057_search_order.ts"

export const migrations: Migrations = {
  "0001_journal": journal,
  "0002_access": access,
  "0003_spaces": spaces,
  "0004_decisions": decisions,
  "0005_upstreams": servers,
  "0006_calls": calls,
  "0007_pauses": pauses,
  "0008_hosts": hosts,
  "0009_active_spaces": activeSpaces,
  "0010_declared_spaces": declaredSpaces,
  "0011_questions": questions,
  "0012_journal_space": journalSpace,
  "0016_loans": loans,
  "0017_changes": rightsChanges,
  "0018_audit_calls": auditCalls,
  "0020_holders": holders,
  "0021_call_runs": callRuns,
  "0030_search": search,
  "0031_memory": memory,
  "0032_space_names": spaceNames,
  "0040_audit_head": auditHead,
  "0041_retention": retention,
  "0042_event_version": eventVersion,
  "0050_origins": origins,
  "0051_openers": openers,
  "0052_voters": voters,
  "0053_wallets": wallets,
  "0057_search_order": searchOrder,
  "0058_message_words": messageWords,
  "0059_plans": plans,
  "0060_erasures": erasures,
  "0061_agents": agents,
  "0062_models": models,
  "0063_runs": runs,
  "0064_replies": replies,
  "0065_sub_agents": subAgents,
  "0075_sessions": sessions,
  "0076_sessions_apart": sessionsApart,
  "0077_plan_runs": planRuns,
  "0078_letter_readers": letterReaders,
  "0080_search_vectors": searchVectors,
  "0081_embedding": embedding,
  "0082_newest": newest,
  "0085_house_key": houseKey,
  "0086_payers": payers,
  "0093_turns": turns,
  "0094_program_sessions": programSessions,
  "0095_team_agents": teamAgents,
  "0096_teams": teams,
  "0103_reasons": reasons,
  "0104_pinned_at": pinnedAt,
  "0110_demo": demo,
  "0111_model_sources": modelSources,
  "0115_run_times": runTimes,
  "0116_decision_times": decisionTimes,
  "0125_session_runs": sessionRuns,
  "0126_call_tools": callTools,
  "0127_copied_calls": copiedCalls,
  "0128_open_runs": openRuns,
  "0129_journal_kinds": journalKinds,
  "0130_call_resume": callResume,
  "0131_message_authors": messageAuthors,
  "0136_tokens_end": tokensEnd,
  "0137_delegations_token": delegationsToken,
  "0138_retired_spaces": retiredSpaces,
  "0139_spellings": spellings,
  "0145_max_reach": maxReach,
  "0153_causers": causers,
  "0158_memory_texts": memoryTexts,
  "0159_storage": storage,
  "0163_authors": authors,
  "0164_offers": offers,
  "0168_used_states": usedStates,
  "0169_order_of_acts": orderOfActs,
  "0173_called": called,
}
