// The order of test files: the longest begin first, so that none of them is alone at the end. Vitest knows how long each
// took the last time; a new checkout knows nothing, hence this list. Whoever is missing from it merely begins later.
import { BaseSequencer, type TestSpecification } from "vitest/node"

const long = [
  "packages/server/test/runs/houses/houses",
  "packages/server/test/runs/houses/runsCrash",
  "packages/cli/test/memoryCrash",
  "packages/web/test/browser/",
  "packages/cli/test/calls",
  "test/packed",
  "packages/server/test/memory/embedding",
  "packages/server/test/spaces/spacesRules",
  "packages/server/test/spaces/spacesSeen",
  "packages/server/test/spaces/spacesLeak",
  "packages/cli/test/",
  "packages/server/test/team/",
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
