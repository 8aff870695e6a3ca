import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ChatSession, ChatSessionChange, NewChatSession } from "../../spaces/ChatSession.ts"
import { BadInput, Missing, TooLarge, TooManyRequests, WrongState } from "../../Errors.ts"
import { ChatSessionId } from "../../Ids.ts"
import { Message, NewMessage } from "../../spaces/Message.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { problem } from "../../Problem.ts"
import { Idempotency, createdResponses } from "../guards.ts"
import { Seq } from "./Spaces.ts"

const ref = { id: ChatSessionId }
const refused = [problem(Missing), problem(WrongState)] as const

export class ChatSessionsApi extends HttpApiGroup.make("chatSessions")
  .add(
    HttpApiEndpoint.get("list", "/chat-sessions", {
      query: { ...pageQuery, agent: Schema.optionalKey(PrincipalRef) },
      success: pageOfMany(ChatSession),
    }),
    HttpApiEndpoint.post("add", "/chat-sessions", {
      payload: NewChatSession,
      success: createdResponses(ChatSession),
      error: [...refused, problem(BadInput)],
    }).middleware(Idempotency),
    HttpApiEndpoint.get("get", "/chat-sessions/:id", { params: ref, success: ChatSession, error: problem(Missing) }),
    HttpApiEndpoint.patch("change", "/chat-sessions/:id", {
      params: ref,
      payload: ChatSessionChange,
      success: ChatSession,
      error: refused,
    }),
    HttpApiEndpoint.delete("remove", "/chat-sessions/:id", {
      params: ref,
      success: HttpApiSchema.NoContent,
      error: refused,
    }),
    HttpApiEndpoint.get("messages", "/chat-sessions/:id/messages", {
      params: ref,
      query: { limit: pageQuery.limit, before: Schema.optionalKey(Seq), after: Schema.optionalKey(Seq) },
      success: pageOfMany(Message),
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("post", "/chat-sessions/:id/messages", {
      params: ref,
      payload: NewMessage,
      success: createdResponses(Message),
      error: [...refused, problem(TooLarge), problem(TooManyRequests)],
    }).middleware(Idempotency),
  )
  .prefix("/api/v1") {}
