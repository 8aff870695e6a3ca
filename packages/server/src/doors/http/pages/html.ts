/**
 * Every page the house serves: nothing inline, nothing from other sites, no frames around it, and no scripts except its
 * own files.
 */
import { HttpServerResponse } from "effect/http"

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
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
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
    }),
  )
