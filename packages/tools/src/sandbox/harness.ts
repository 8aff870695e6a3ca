/**
 * The script that runs in the interpreter before foreign code does: a console, and the functions that turn results into
 * text. They hold the originals of what they call, so code that replaces `JSON.stringify` affects only itself; and they
 * run inside, under the same limits, so an endless getter or `toJSON` is interrupted like any other loop.
 */
export const harness = `((emit, max) => {
  "use strict"
  const { stringify } = JSON
  const [text, Fault, Keyed, Unique] = [String, Error, Map, Set]
  const slice = Function.prototype.call.bind(String.prototype.slice)
  const plain = (key, it) =>
    typeof it === "bigint" ? text(it)
    : it instanceof Keyed || it instanceof Unique ? [...it]
    : it instanceof Fault ? { name: it.name, message: it.message }
    : it
  const show = (it) => {
    try {
      if (typeof it === "string") return it
      if (it !== null && typeof it === "object") return stringify(it, plain) ?? text(it)
      return text(it)
    } catch {
      try { return text(it) } catch { return "[a value that has no text]" }
    }
  }
  let open = true
  const log = (...them) => {
    if (!open) return
    let line = ""
    for (let i = 0; i < them.length; i++) line += (i > 0 ? " " : "") + show(them[i])
    open = emit(slice(line, 0, max))
  }
  globalThis.console = { log, info: log, warn: log, error: log, debug: log, trace: log }
  return {
    __proto__: null,
    settle: async (answer) => await (await answer).value,
    encode: (it) => {
      let json
      try { json = stringify(it === undefined ? null : it, plain) } catch {}
      const whole = json === undefined ? show(it) : json
      return { __proto__: null, json: json !== undefined, text: slice(whole, 0, max), cut: whole.length > max }
    },
    explain: (it) => {
      try {
        if (it instanceof Fault) return slice(it.name + ": " + it.message + "\\n" + it.stack, 0, 4000)
      } catch {}
      return slice(show(it), 0, 4000)
    },
  }
})`
