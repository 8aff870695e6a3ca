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

/**
 * A second policy, and both must allow a frame: of this house only an owner's card. It applies wherever the script of a
 * card tries to move its frame to. (A policy can name a path only after a host, and a house has many.)
 */
const framePolicy = "frame-src http://*:*/cards/ https://*:*/cards/"

export const htmlPage = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.html(text).pipe(
    HttpServerResponse.setHeaders({
      "content-security-policy": `${policy}, ${framePolicy}`,
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
    }),
  )
