/**
 * Credentials by their shape, for texts that leave the process and may hold values that no redactor was given, such as
 * the token of a request or the password in a URL. Pure. It finds only what stands where a credential stands: values
 * elsewhere must be known to a `Redactor`.
 */

const shapes: ReadonlyArray<readonly [RegExp, string]> = [
  // The value of an Authorization header.
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, "$1 [secret]"],
  // The user and password of a URL.
  [/(:\/\/)[^\s/@"'\\]+@/g, "$1[secret]@"],
  // A parameter of a URL that is named like a credential.
  [/([?&#](?:[\w-]*(?:token|key|secret|password)|code|sig|signature)=)[^&\s"'\\#]+/gi, "$1[secret]"],
]

export const withoutShapes = (text: string): string =>
  shapes.reduce((left, [shape, instead]) => left.replaceAll(shape, instead), text)
