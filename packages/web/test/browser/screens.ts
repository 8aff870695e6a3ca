/** Every screen there is, by its address; drawn by `npm run screenshots`, and looked at by axe in the tests. */
export const screens: ReadonlyArray<readonly [name: string, path: string]> = [
  ["space", "/s/harbour"],
  ["space-empty", "/s/customers"],
  ["spaces", "/spaces"],
  ["spaces-open", "/spaces?open=true"],
  ["decisions", "/decisions"],
  ["decisions-always", "/decisions?tab=always"],
  ["decisions-answered", "/decisions?tab=answered"],
  ["me", "/me"],
  ["house", "/house"],
]

export const sizes = {
  desktop: { width: 1280, height: 1000 },
  phone: { width: 390, height: 844 },
} as const
