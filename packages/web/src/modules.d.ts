declare module "*.svg" {
  const url: string
  // Vite exports a file's address as its default.
  // oxlint-disable-next-line stoa/no-default-export
  export default url
}
declare module "*.css"
