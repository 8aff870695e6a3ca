/** Codex: where it is, and what keeps it quiet and with a model on loopback, as its `-c` takes it. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { clientsFolder } from "./isolation.ts"

const vendor = join(clientsFolder, `node_modules/@openai/codex-${process.platform}-${process.arch}/vendor`)

/** The program itself, without the script that looks for it. */
export const codexProgram = existsSync(vendor)
  ? join(vendor, readdirSync(vendor)[0]!, "bin/codex")
  : join(clientsFolder, "node_modules/@openai/codex/bin/codex.js")

export const codexSwitches = (model: string): ReadonlyArray<string> => [
  'model="loopback"',
  'model_provider="loopback"',
  `model_providers.loopback={name="loopback",base_url="${model}/v1",wire_api="responses",env_key="LOOPBACK_KEY",request_max_retries=0,stream_max_retries=0,supports_websockets=false}`,
  "check_for_update_on_startup=false",
  "features.plugins=false",
  "features.apps=false",
  "analytics.enabled=false",
  "feedback.enabled=false",
]
