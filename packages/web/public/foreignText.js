/**
 * Text that somebody else wrote, made safe to look at: `visible` of `@stoa/contract`, word for word (a test compares them),
 * until this page is built with it.
 */
const visible = (text) =>
  text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu,
    (sign) => `<U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`,
  )

/** Line by line: no other sign breaks a line. */
export const shown = (text) => String(text).split(/\r?\n/).map(visible).join("\n")
