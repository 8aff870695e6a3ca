/** What a figure asks of a house over HTTP before and between its rounds. */
import type { House } from "../processes.ts"

export const urlOf = (house: House): string => `http://127.0.0.1:${house.port}`

/** The answer's body; anything but 2xx ends the figure. */
export const ask = async <A>(house: House, method: string, path: string, body?: object): Promise<A> => {
  const response = await fetch(`${urlOf(house)}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${house.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return (text === "" ? undefined : JSON.parse(text)) as A
}

/** A new agent's token. */
export const addAgent = async (house: House, name: string): Promise<string> => {
  await ask(house, "POST", "/principals", { kind: "agent", name })
  return (await ask<{ readonly token: string }>(house, "POST", "/tokens", { principal: name })).token
}
