import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccessContext, AllowList, AllowListChange } from "../../access/rights/AllowList.ts"
import { BadInput, OwnedByFile } from "../../Errors.ts"
import { pageOfMany } from "../../Page.ts"
import { problem } from "../../Problem.ts"
import { ListedSet } from "../../tools/Toolset.ts"
import { waitingResponse } from "../guards.ts"

const list = { toolset: ListedSet, context: AccessContext }

export class AllowListsApi extends HttpApiGroup.make("allowLists")
  .add(
    HttpApiEndpoint.get("list", "/allow-lists", { success: pageOfMany(AllowList) }),
    HttpApiEndpoint.get("get", "/allow-lists/:toolset/:context", { params: list, success: AllowList }),
    HttpApiEndpoint.put("set", "/allow-lists/:toolset/:context", {
      params: list,
      payload: AllowListChange,
      success: [AllowList, waitingResponse],
      error: [problem(BadInput), problem(OwnedByFile)],
    }),
    HttpApiEndpoint.delete("reset", "/allow-lists/:toolset/:context", {
      params: list,
      success: [AllowList, waitingResponse],
      error: problem(OwnedByFile),
    }),
  )
  .prefix("/api/v1") {}
