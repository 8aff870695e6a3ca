/**
 * Every page the house serves: nothing inline, nothing from other sites, no frames, and no scripts except its own
 * files.
 */
import { HttpServerResponse } from "effect/http"

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ")

export const htmlPage = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.html(text).pipe(
    HttpServerResponse.setHeaders({
      "content-security-policy": policy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    }),
  )
