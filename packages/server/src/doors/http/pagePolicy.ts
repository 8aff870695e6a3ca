/** What a page of the house may load: files of its own, and inline styles that are known by their hash. No inline script. */
import { hash } from "node:crypto"

/** `scripts`: the page has scripts, in files of the house, that ask the house. */
export const pagePolicy = (options: { readonly styles: ReadonlyArray<string>; readonly scripts?: boolean }): string => {
  const styles = options.styles.map((text) => `'sha256-${hash("sha256", text, "base64")}'`).join(" ")
  return [
    "default-src 'none'",
    ...(options.scripts === true ? ["script-src 'self'", "connect-src 'self'", "img-src 'self' data:"] : []),
    `style-src 'self' ${styles}`.trim(),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ")
}
