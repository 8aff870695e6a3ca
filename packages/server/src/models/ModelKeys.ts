/**
 * Resolves `${secret.NAME}` and `${env.NAME}`. The room that stores them is on the same floor, so it is wired in
 * (House.ts).
 */
import { Context, type Effect } from "effect"

export class ModelKeys extends Context.Service<
  ModelKeys,
  {
    /** The text with its placeholders replaced. The failure is a sentence. */
    readonly reveal: (text: string) => Effect.Effect<string, string>
  }
>()("server/models/ModelKeys") {}
