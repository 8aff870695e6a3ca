/** What `${secret.NAME}` and `${env.NAME}` stand for, as the room that keeps them says: wired in from above (House.ts). */
import { Context, type Effect } from "effect"

export class ModelKeys extends Context.Service<
  ModelKeys,
  {
    /** The text with its places filled in. A failure is a sentence. */
    readonly reveal: (text: string) => Effect.Effect<string, string>
  }
>()("server/models/ModelKeys") {}
