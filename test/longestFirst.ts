// The order of test files: the longest begin first, so that none of them is alone at the end. Vitest knows how long each
// took the last time; a new checkout knows nothing, hence this list. Whoever is missing from it merely begins later.
import { BaseSequencer, type TestSpecification } from "vitest/node"

const long = [
  "test/packed",
  "packages/cli/test/verbs/calls",
  "packages/cli/test/mcp/mcp.",
  "packages/web/test/browser/",
  "packages/server/test/runs/houses/",
  "packages/cli/test/house/memoryCrash",
  "packages/cli/test/house/start",
  "packages/cli/test/verbs/verbs",
  "packages/server/test/mcp/mcpConformance",
  "packages/server/test/servers/servers.",
  "packages/server/test/spaces/spacesRules",
  "packages/server/test/proxied/proxiedCrash",
  "packages/server/test/access/auditSeal",
  "packages/server/test/access/authorization",
  "packages/server/test/memory/embedding",
  "packages/cli/test/",
  "packages/server/test/team/",
  "packages/server/test/decisions/decisionsRaces",
  "packages/server/test/house/secretsLeak",
  "packages/server/test/spaces/spaces",
  "packages/server/test/calls/crash/",
  "packages/sdk/test/host",
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: ReadonlyArray<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = long.findIndex((path) => moduleId.includes(path))
      return at === -1 ? long.length : at
    }
    return (await super.sort([...files])).toSorted((a, b) => place(a) - place(b))
  }
}
