import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Ambiguous, BadInput, Missing, TooLarge, WrongState } from "../../Errors.ts"
import { FaceName } from "../../Faces.ts"
import { MessageRef } from "../../Ids.ts"
import { FoundMessage, Message, MessageText } from "../../spaces/Message.ts"
import { Emoji, GivenReaction } from "../../spaces/Reaction.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { problem } from "../../Problem.ts"
import { SpaceRef } from "../../spaces/Space.ts"

const message = { message: MessageRef }
const refused = [problem(Missing), problem(WrongState)] as const

export class MessagesApi extends HttpApiGroup.make("messages")
  .add(
    HttpApiEndpoint.get("search", "/messages", {
      query: {
        /** A search in plain words: best matches first. Quoted text must occur word for word. */
        q: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(2000)),
        space: Schema.optionalKey(SpaceRef),
        ...pageQuery,
      },
      success: pageOfMany(FoundMessage),
      error: [problem(Missing), problem(Ambiguous), problem(BadInput)],
    }),
    HttpApiEndpoint.get("get", "/messages/:message", {
      params: message,
      query: { names: Schema.optionalKey(FaceName) },
      success: Message,
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("history", "/messages/:message/history", {
      params: message,
      success: pageOfMany(Schema.Struct({ text: Schema.String, at: Schema.String })),
      error: problem(Missing),
    }),
    HttpApiEndpoint.patch("edit", "/messages/:message", {
      params: message,
      payload: Schema.Struct({ text: MessageText }),
      success: Message,
      error: [...refused, problem(TooLarge)],
    }),
    HttpApiEndpoint.delete("remove", "/messages/:message", {
      params: message,
      success: HttpApiSchema.NoContent,
      error: refused,
    }),
    HttpApiEndpoint.put("react", "/messages/:message/reactions/:emoji", {
      params: { ...message, emoji: Emoji },
      success: HttpApiSchema.NoContent,
      error: refused,
    }),
    HttpApiEndpoint.delete("unreact", "/messages/:message/reactions/:emoji", {
      params: { ...message, emoji: GivenReaction },
      success: HttpApiSchema.NoContent,
      error: refused,
    }),
    HttpApiEndpoint.put("pin", "/messages/:message/pin", {
      params: message,
      success: HttpApiSchema.NoContent,
      error: refused,
    }),
    HttpApiEndpoint.delete("unpin", "/messages/:message/pin", {
      params: message,
      success: HttpApiSchema.NoContent,
      error: refused,
    }),
  )
  .prefix("/api/v1") {}
