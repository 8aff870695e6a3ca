/** Signatures as an outside service makes them, from the documents alone: nothing of the house is used. */
import { createHmac } from "node:crypto"

export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

const netstrings = (fields: ReadonlyArray<string>): string =>
  fields.map((field) => `${Buffer.byteLength(field)}:${field},`).join("")

const headerOf = (key: string, seconds: number, fields: readonly [label: string, ...rest: Array<string>]): string => {
  const [label, ...rest] = fields
  const text = netstrings([label, String(seconds), ...rest])
  return `t=${seconds},v2=${createHmac("sha256", key).update(text).digest("hex")}`
}

export const callSignature = (key: string, call: string, body: string, seconds = nowSeconds()): string =>
  headerOf(key, seconds, ["stoa/webhook-call/2", call, body])

export const resultSignature = (key: string, call: string, body: string, seconds = nowSeconds()): string =>
  headerOf(key, seconds, ["stoa/webhook-result/2", call, body])

export const triggerSignature = (
  key: string,
  { agent, body, once = "" }: { readonly agent: string; readonly body: string; readonly once?: string },
  seconds = nowSeconds(),
): string => headerOf(key, seconds, ["stoa/agent-trigger/2", agent, once, body])
