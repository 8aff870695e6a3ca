/**
 * The script of an owner's card, as one text: the lock, what the page and the card say to one another, and the card's
 * own script. One hash allows them together, so nothing in a frame can run the card's script without the lock.
 *
 * The policy of the frame stops requests. The lock takes away what no policy stops: WebRTC, connections opened before
 * they are asked for (`<link rel="preconnect">`), and frames with a realm of their own. Whatever it calls later it takes
 * before the card's script can replace it.
 */
// edge: the script of a browser, parsed here as what it will be there: the body of an async function.

/** Elements that connect or move a frame by being there, or have a realm of their own. */
const refused = "applet base embed fencedframe frame frameset iframe link meta object portal script"

/**
 * Markup is judged by its text: an element of a parser has its name written out in the source after a `<`, or in XML
 * after a prefix. Parsers that build names in another way are gone, and so are those a browser does not guard.
 */
const lock = `{
  const { apply } = Reflect
  const { exec } = RegExp.prototype
  const text = String
  const Refusal = TypeError
  const refused = /^(?:[^]*:)?(?:${refused.replaceAll(" ", "|")})$/i
  const written = /<(?:[^\\s<>/]*:)?(?:${refused.replaceAll(" ", "|")})(?![\\w-])/i
  const judge = (pattern, value) => {
    const judged = text(value)
    if (apply(exec, pattern, [judged]) !== null) throw new Refusal("a card makes no elements of this kind: ${refused}")
    return judged
  }
  const remove = (place, which) => {
    for (const name of Object.getOwnPropertyNames(place)) if (which.test(name) && !delete place[name]) throw new Refusal(name)
  }
  remove(globalThis, /^(?:webkit|moz)?RTC|^(?:DOMParser|XSLTProcessor)$/)
  remove(DOMImplementation.prototype, /^createDocument$/)
  remove(Document, /HTML/)
  remove(Document.prototype, /^execCommand$/)
  const isGuarded = globalThis.trustedTypes !== undefined
  if (isGuarded) trustedTypes.createPolicy("default", { createHTML: (markup) => judge(written, markup) })
  const markup = isGuarded ? /^(?!(?:innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe)$).*HTML/ : /HTML/
  for (const { prototype } of [Element, ShadowRoot]) remove(prototype, markup)
  if (!isGuarded) {
    remove(Document.prototype, /^write/)
    remove(Range.prototype, /^createContextualFragment$/)
  }
  const { createElement, createElementNS } = Document.prototype
  Document.prototype.createElement = function (name) {
    return apply(createElement, this, [judge(refused, name)])
  }
  Document.prototype.createElementNS = function (space, name) {
    return apply(createElementNS, this, [space, judge(refused, name)])
  }
  const { define } = CustomElementRegistry.prototype
  CustomElementRegistry.prototype.define = function (name, type) {
    apply(define, this, [name, type])
  }
}`

/** `stoa.card(draw)`: `draw` is called with the call and the element to draw in, at each message from the page. */
const prelude = `globalThis.stoa = {
  card(draw) {
    const root = document.getElementById("card")
    const tell = () => parent.postMessage({ height: Math.ceil(root.getBoundingClientRect().height) }, "*")
    addEventListener("message", (event) => {
      if (event.source !== parent) return
      document.documentElement.style.colorScheme = event.data.theme
      root.replaceChildren()
      draw(event.data.call, root)
      tell()
    })
    new ResizeObserver(tell).observe(root)
    parent.postMessage({ ready: true }, "*")
  },
}`

const AsyncFunction = (async () => undefined).constructor as (body: string) => unknown

/** What is wrong with it as a text of its own. Nothing is run: a body that parses alone cannot end what is around it. */
const faultOf = (body: string): string | undefined => {
  try {
    AsyncFunction(body)
    return undefined
  } catch (cause) {
    return String(cause)
  }
}

/** The whole script of the card `name`. A browser tells in its console what is wrong with one that is no script. */
export const cardScript = (name: string, own: string): string => {
  const body = `"use strict"\n${own}\n`
    // As an HTML parser reads it, so that the hash fits.
    .replaceAll(/\r\n?/g, "\n")
    // Inside a script string the escape means the same; unescaped, an HTML parser would end the script there.
    .replaceAll(/<(?=\/script|!--)/gi, "\\x3c")
  const fault = faultOf(body)
  const said = JSON.stringify(`cards/${name}.js: ${fault}`).replaceAll("<", "\\x3c")
  return `${lock}\n${prelude}\nawait (async () => {${fault === undefined ? body : `throw new SyntaxError(${said})`}})()`
}
