/**
 * A toolset is a group of built-in tools. The names are listed here, so that an allow list can be checked
 * before the room that serves a toolset has started (S2-07, X-60), and a document can count them (G-45).
 */
import { Schema } from "effect"
import { toolsetNames } from "./toolsetNames.ts"

export const ToolsetName = Schema.Literals(toolsetNames)
export type ToolsetName = typeof ToolsetName.Type

/** What an allow list may be for: the toolsets, and the tools of the configuration and of MCP servers. */
export const ListedSet = Schema.Literals([...ToolsetName.literals, "configured", "upstream"])
export type ListedSet = typeof ListedSet.Type

/** The sets with names known beforehand: a name that is not in them is a mistake. */
export const toolNames: Record<ToolsetName, ReadonlyArray<string>> = {
  stoa: [
    "whoami",
    "list_spaces",
    "list_members",
    "post_message",
    "read_messages",
    "react",
    "search_messages",
    "mark_read",
    "wait_for_messages",
    "call_status",
    "cancel_call",
    "list_decisions",
    "answer_decision",
    "remember",
    "recall",
    "forget",
    "memory_history",
    "list_offers",
    "answer_offer",
    "search",
    "run_agent",
  ],
  office: ["send_message", "react_to_message", "do_nothing", "update_memory", "search_memory", "store_memory"],
  gateway: [
    "enter_space",
    "send_message",
    "send_reply",
    "read_messages",
    "stop_run",
    "set_goals",
    "delete_goals",
    "set_memories",
    "delete_memories",
    "set_plans",
    "delete_plans",
    "get_plans",
    "get_my_runs",
  ],
  engrams: [
    "engram_create",
    "engram_get",
    "engram_search",
    "engram_update",
    "engram_delete",
    "engram_list_by_type",
    "user_profile_get",
    "user_profile_update",
    "hecate_new_session",
    "hecate_list_sessions",
    "hecate_resume_session",
    "hecate_delete_session",
    "hecate_remember",
    "hecate_cleanup",
    "hecate_pin_engram",
    "hecate_unpin_engram",
    "hecate_set_model",
    "moros_remember",
    "moros_cleanup",
    "moros_pin_engram",
    "moros_unpin_engram",
    "moros_set_model",
  ],
  team: [
    "send_message",
    "broadcast",
    "check_inbox",
    "spawn_agent",
    "inspect_agent",
    "complete",
    "list_team",
    "whoami",
    "stop_agent",
    "merge_work",
    "apply_work",
    "permit_use",
    "allow_use",
  ],
  skills: ["web-search", "file-read", "file-write", "http-get", "code-execute"],
}
