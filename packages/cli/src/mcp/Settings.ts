/** What the house sets for a program that has no network: its address, and the token. */
// edge: reads the environment.

const set = (name: string): string | undefined => {
  const value = process.env[name]
  return value === "" ? undefined : value
}

export const turnSettings = () => ({ socket: set("STOA_SOCKET"), url: set("STOA_URL"), token: set("STOA_TOKEN") })
