import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, Missing, NameTaken } from "../../Errors.ts"
import { Host, HostDeclaration, HostedCall, HostedEnd, HostName } from "../../tools/Host.ts"
import { pageOfMany } from "../../Page.ts"
import { problem } from "../../Problem.ts"

/** Your own by name; an admin uses the id for another's. */
const ref = { host: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)) }

const instance = Schema.String.check(Schema.isMinLength(8), Schema.isMaxLength(100))

export class HostsApi extends HttpApiGroup.make("hosts")
  .add(
    HttpApiEndpoint.get("list", "/hosts", { success: pageOfMany(Host) }),
    HttpApiEndpoint.get("get", "/hosts/:host", { params: ref, success: Host, error: problem(Missing) }),
    HttpApiEndpoint.put("declare", "/hosts/:host", {
      params: { host: HostName },
      payload: HostDeclaration,
      success: Host,
      error: [problem(NameTaken), problem(BadInput)],
    }),
    HttpApiEndpoint.delete("remove", "/hosts/:host", {
      params: ref,
      // A stopping process removes only itself, not the one that has replaced it.
      query: { instance: Schema.optionalKey(instance) },
      success: HttpApiSchema.NoContent,
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("calls", "/hosts/:host/calls", {
      params: { host: HostName },
      // The process that connects. A call sent to one process is never sent to another.
      query: { instance: Schema.optionalKey(instance) },
      success: HttpApiSchema.StreamSse({ data: Schema.Union([HostedCall, HostedEnd]) }),
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}
