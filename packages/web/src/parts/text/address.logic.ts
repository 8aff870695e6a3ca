/**
 * Where an address in somebody's text, question or result may lead. Of this house only its screens, its guides and its
 * files: a browser sends every request to the house with the reader's cookie, so no other path is asked for because a
 * text says so. Pure.
 */

/** The first parts of the addresses of screens (`routes.ts`), and of the pages that explain the house. */
export const screens: ReadonlyArray<string> =
  "agents connect decisions docs help house me memory overview people runs s search servers spaces tools why".split(" ")

const file = /^\/api\/v1\/files\/fil_[0-9a-f]{64}$/

/** As a browser reads it, so that what is judged is what would be asked for. */
const urlOf = (address: string, house: string): URL | undefined => {
  // A browser removes control characters from an address before it parses it.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\\]/.test(address) || !URL.canParse(address, house)) return undefined
  return new URL(address, house)
}

/** The house however its address is written: a cookie does not tell http from https. */
const isHouse = (url: URL, house: string): boolean => url.host === new URL(house).host

/** Where a link may lead if a person follows it: other sites, mail, and pages and files of this house. */
export const safeHref = (address: string, house = location.origin): string | undefined => {
  const isPath = address.startsWith("/")
  if (!isPath && !/^(?:https?:\/\/|mailto:)/i.test(address)) return undefined
  const url = urlOf(address, house)
  if (url === undefined) return undefined
  if (!isHouse(url, house)) return isPath ? undefined : address
  const { hash, pathname, search } = url
  // A sign-in link would sign the reader in as somebody else.
  const isScreen = (pathname === "/" || screens.includes(pathname.split("/")[1]!)) && !hash.startsWith("#token=")
  return isScreen ? pathname + search + hash : file.test(pathname) ? pathname : undefined
}

/** What the page itself loads because a result names it: a file of the house, and nothing else. */
export const isHouseFile = (path: string): boolean => file.test(path)
