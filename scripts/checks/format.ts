import { type Check, lines, orWords, run } from "./kit.ts"

export const format: Check = async (root) => {
  const out = await run(root, "oxfmt", ["--check"])
  const looked = Number(/ on (\d+) files?/.exec(out.stdout)?.[1] ?? 0)
  const faults = lines(out.stdout)
    .map((line) => /^(\S.*) \(\d+m?s\)$/.exec(line)?.[1])
    .filter((path) => path !== undefined)
    .map((path) => `${path}: not formatted; run \`npm run fmt\``)
  return { looked, unit: "files", faults: orWords(faults, out) }
}
