/** Takes the secrets a call has seen out of what is kept of it (G-17). Pure. */

/** Shorter than this it is no secret, and taking it out would tear up what is left. */
const shortest = 4

export const redact = (text: string, revealed: ReadonlySet<string>): string => {
  let clean = text
  for (const secret of [...revealed].toSorted((a, b) => b.length - a.length)) {
    if (secret.length < shortest) continue
    clean = clean.replaceAll(secret, "[secret]")
    // As it stands inside a JSON text, and as it stands in a URL.
    const escaped = JSON.stringify(secret).slice(1, -1)
    if (escaped !== secret) clean = clean.replaceAll(escaped, "[secret]")
    const encoded = encodeURIComponent(secret.toWellFormed())
    if (encoded !== secret) clean = clean.replaceAll(encoded, "[secret]")
  }
  return clean
}
