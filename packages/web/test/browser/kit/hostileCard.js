/* oxlint-disable -- It is hostile on purpose. */
// An owner's card that tries every way out it knows; `call.input` says which, and where each would arrive.
const xhtml = "http://www.w3.org/1999/xhtml"
const svg = "http://www.w3.org/2000/svg"

const gathered = async (Peer, urls) => {
  const peer = new Peer({ iceServers: [{ urls, username: "a", credential: "b" }] })
  peer.createDataChannel("out")
  await peer.setLocalDescription(await peer.createOffer())
  for (let left = 40; left > 0 && peer.iceGatheringState !== "complete"; left--)
    await Promise.race([
      new Promise((done) => peer.addEventListener("icegatheringstatechange", done, { once: true })),
      new Promise((done) => setTimeout(done, 50)),
    ])
  peer.close()
}

// In a frame that it made of its own script, the name of the window says where to.
if (location.protocol === "about:") await gathered(RTCPeerConnection, `stun:${name}`)

const link = (rel, at, more = {}) => {
  const made = Object.assign(document.createElement("link"), { rel, ...more })
  made.href = `http://${at}/`
  document.head.append(made)
}
const preconnect = (at, name = "link") => `<${name} rel="preconnect" href="http://${at}/"></${name}>`
const put = (element) => document.body.append(element)
const adopt = (other) => {
  for (const found of [...other.getElementsByTagName("*")].filter(({ localName }) => localName === "link"))
    document.head.append(document.adoptNode(found))
}
const show = (name, more) => {
  const made = Object.assign(document.createElement(name), more)
  put(made)
  return made
}

const quiet = {
  udpPeer: (at) => gathered(RTCPeerConnection, `stun:${at}`),
  udpOldPeer: (at) => gathered(webkitRTCPeerConnection, `stun:${at}`),
  tcpPeer: (at) => gathered(RTCPeerConnection, `turn:${at}?transport=tcp`),
  udpFramePeer: async (at) => gathered(show("iframe").contentWindow.RTCPeerConnection, `stun:${at}`),
  udpSrcdocPeer: async (at) => {
    const scripts = [...document.scripts].at(-1).outerHTML
    const frame = Object.assign(document.createElement("iframe"), { name: at, srcdoc: scripts })
    put(frame)
    await new Promise((done) => frame.addEventListener("load", done))
    await new Promise((done) => setTimeout(done, 1000))
  },
  preconnect: (at) => link("preconnect", at),
  dnsPrefetch: (at) => link("dns-prefetch", at),
  prefetch: (at) => link("prefetch", at),
  preload: (at) => link("preload", at, { as: "image" }),
  modulepreload: (at) => link("modulepreload", at),
  prerender: (at) => link("prerender", at),
  stylesheet: (at) => link("stylesheet", at),
  icon: (at) => link("icon", at),
  manifest: (at) => link("manifest", at),
  shouted: (at) => {
    const made = document.createElement("LINK")
    Object.assign(made, { rel: "preconnect", href: `http://${at}/` })
    document.head.append(made)
  },
  namespaced: (at) => {
    const made = document.createElementNS(xhtml, "x:link")
    Object.assign(made, { rel: "preconnect", href: `http://${at}/` })
    document.head.append(made)
  },
  otherDocument: (at) => {
    const made = new Document().createElementNS(xhtml, "link")
    Object.assign(made, { rel: "preconnect", href: `http://${at}/` })
    document.head.append(made)
  },
  createDocument: (at) => {
    const made = document.implementation.createDocument(xhtml, "link").documentElement
    Object.assign(made, { rel: "preconnect", href: `http://${at}/` })
    document.head.append(document.adoptNode(made))
  },
  customElement: (at) => {
    class Link extends HTMLLinkElement {}
    customElements.define("x-link", Link, { extends: "link" })
    const made = Object.assign(new Link(), { rel: "preconnect", href: `http://${at}/` })
    document.head.append(made)
  },
  innerHTML: (at) => void (show("div").innerHTML = preconnect(at)),
  outerHTML: (at) => void (show("div").outerHTML = preconnect(at)),
  innerXML: (at) => {
    const made = new Document().createElementNS(xhtml, "div")
    made.innerHTML = `<h:link xmlns:h="${xhtml}" rel="preconnect" href="http://${at}/"/>`
    document.body.append(document.adoptNode(made))
  },
  insertAdjacentHTML: (at) => document.body.insertAdjacentHTML("beforeend", preconnect(at)),
  shadow: (at) => void (show("div").attachShadow({ mode: "open" }).innerHTML = preconnect(at)),
  template: (at) => {
    const made = document.createElement("template")
    made.innerHTML = preconnect(at)
    put(document.importNode(made.content, true))
  },
  fragment: (at) => put(document.createRange().createContextualFragment(preconnect(at))),
  setHTMLUnsafe: (at) => show("div").setHTMLUnsafe(preconnect(at)),
  setHTML: (at) =>
    show("div").setHTML(preconnect(at), { sanitizer: { elements: ["link"], attributes: ["rel", "href"] } }),
  parseHTMLUnsafe: (at) => adopt(Document.parseHTMLUnsafe(preconnect(at))),
  htmlDocument: (at) => {
    const made = document.implementation.createHTMLDocument("x")
    made.body.innerHTML = preconnect(at)
    adopt(made)
  },
  parser: (at) => adopt(new DOMParser().parseFromString(preconnect(at), "text/html")),
  xmlParser: (at) => {
    const text = `&#60;link xmlns='${xhtml}' rel='preconnect' href='http://${at}/'/>`
    adopt(new DOMParser().parseFromString(`<!DOCTYPE a [<!ENTITY b "${text}">]><a>&b;</a>`, "text/xml"))
  },
  stylesheetOfXml: (at) => {
    const sheet = new Document()
    const xsl = "http://www.w3.org/1999/XSL/Transform"
    const root = sheet.createElementNS(xsl, "xsl:stylesheet")
    root.setAttribute("version", "1.0")
    const rule = sheet.createElementNS(xsl, "xsl:template")
    rule.setAttribute("match", "/")
    const made = sheet.createElementNS(xsl, "xsl:element")
    made.setAttribute("name", "link")
    made.setAttribute("namespace", xhtml)
    for (const [name, value] of Object.entries({ rel: "preconnect", href: `http://${at}/` })) {
      const attribute = sheet.createElementNS(xsl, "xsl:attribute")
      attribute.setAttribute("name", name)
      attribute.append(value)
      made.append(attribute)
    }
    rule.append(made)
    root.append(rule)
    sheet.append(root)
    const processor = new XSLTProcessor()
    processor.importStylesheet(sheet)
    put(processor.transformToFragment(document, document))
  },
  command: (at) => {
    const field = show("div", { contentEditable: "true" })
    field.focus()
    getSelection().selectAllChildren(field)
    document.execCommand("insertHTML", false, preconnect(at))
  },
  tampered: (at) => {
    const { exec } = RegExp.prototype
    RegExp.prototype.exec = () => null
    String.prototype.toLowerCase = () => "div"
    Set.prototype.has = () => false
    try {
      show("div").innerHTML = preconnect(at)
    } finally {
      RegExp.prototype.exec = exec
    }
  },
  tamperedName: (at) => {
    Object.defineProperty(Element.prototype, "localName", { get: () => "div", configurable: true })
    link("preconnect", at)
  },
  twoFaced: (at) => {
    let asked = 0
    const made = document.createElement({ toString: () => (asked++ === 0 ? "div" : "link") })
    Object.assign(made, { rel: "preconnect", href: `http://${at}/` })
    document.head.append(made)
    const other = document.createElement({ toString: () => (asked++ === 2 ? "div" : "link") })
    Object.assign(other, { rel: "preconnect", href: `http://${at}/` })
    document.head.append(other)
  },
  fetch: (at) => fetch(`http://${at}/`, { mode: "no-cors" }),
  xhr: (at) =>
    new Promise((done) => {
      const request = new XMLHttpRequest()
      request.addEventListener("loadend", done)
      request.open("GET", `http://${at}/`)
      request.send()
    }),
  beacon: (at) => navigator.sendBeacon(`http://${at}/`, "x"),
  webSocket: (at) => void new WebSocket(`ws://${at}/`),
  eventSource: (at) => void new EventSource(`http://${at}/`),
  webTransport: (at) => void new WebTransport(`https://${at}/`),
  image: (at) => show("img", { src: `http://${at}/` }),
  srcset: (at) => show("img", { srcset: `http://${at}/ 2x, http://${at}/ 1x` }),
  svgImage: (at) => {
    const box = document.createElementNS(svg, "svg")
    for (const name of ["image", "use", "feImage"]) {
      const made = document.createElementNS(svg, name)
      made.setAttribute("href", `http://${at}/#a`)
      box.append(made)
    }
    put(box)
  },
  video: (at) => show("video", { src: `http://${at}/`, poster: `http://${at}/`, autoplay: true }),
  audio: (at) => new Audio(`http://${at}/`).play(),
  style: (at) =>
    show("style", {
      textContent: `@import "http://${at}/"; @font-face { font-family: a; src: url(http://${at}/) }
        body { background: url(http://${at}/); font-family: a; cursor: url(http://${at}/), auto }`,
    }),
  inputImage: (at) => show("input", { type: "image", src: `http://${at}/` }),
  script: (at) => show("script", { src: `http://${at}/` }),
  import: (at) => import(`http://${at}/`),
  worker: (at) => void new Worker(URL.createObjectURL(new Blob([`fetch("http://${at}/")`]))),
  serviceWorker: (at) => navigator.serviceWorker.register(`http://${at}/`),
  worklet: (at) => CSS.paintWorklet.addModule(`http://${at}/`),
  rules: (at) =>
    show("script", {
      type: "speculationrules",
      textContent: JSON.stringify({ prefetch: [{ urls: [`http://${at}/`], eagerness: "immediate" }] }),
    }),
  frame: (at) => show("iframe", { src: `http://${at}/` }),
  object: (at) => show("object", { data: `http://${at}/` }),
  embed: (at) => show("embed", { src: `http://${at}/` }),
  frameset: (at) => {
    const box = document.createElement("frameset")
    box.append(Object.assign(document.createElement("frame"), { src: `http://${at}/` }))
    document.documentElement.append(box)
  },
  popup: (at) => open(`http://${at}/`),
  popupLink: (at) => show("a", { href: `http://${at}/`, target: "_blank" }).click(),
  popupForm: (at) => show("form", { action: `http://${at}/`, target: "_blank" }).submit(),
  ping: (at) => show("a", { href: "#", ping: `http://${at}/` }).click(),
  top: (at) => void (top.location = `http://${at}/`),
  parent: (at) => parent.location.replace(`http://${at}/`),
  topLink: (at) => show("a", { href: `http://${at}/`, target: "_top" }).click(),
  topForm: (at) => show("form", { action: `http://${at}/`, target: "_top" }).submit(),
  payment: (at) =>
    new PaymentRequest([{ supportedMethods: `https://${at}/` }], {
      total: { label: "x", amount: { currency: "EUR", value: "1" } },
    }).canMakePayment(),
  base: (at) => {
    document.head.append(Object.assign(document.createElement("base"), { href: `http://${at}/` }))
    show("img", { src: "x" })
  },
}

/** These would replace the card itself; `to` is a whole address. */
const moves = {
  location: (to) => void (location.href = to),
  replace: (to) => location.replace(to),
  navigation: (to) => navigation.navigate(to),
  self: (to) => void open(to, "_self"),
  link: (to) => show("a", { href: to }).click(),
  download: (to) => show("a", { href: to, download: "x" }).click(),
  form: (to) => show("form", { action: to }).submit(),
  refresh: (to) => {
    const made = document.createElement("meta")
    Object.assign(made, { httpEquiv: "refresh", content: `0;url=${to}` })
    document.head.append(made)
  },
  refreshHTML: (to) =>
    document.head.insertAdjacentHTML("beforeend", `<meta http-equiv="refresh" content="0;url=${to}">`),
  refreshClone: (to) => {
    const made = document.querySelector("meta").cloneNode()
    Object.assign(made, { httpEquiv: "refresh", content: `0;url=${to}` })
    document.head.append(made)
  },
  write: (to) => {
    document.write(`<meta http-equiv="refresh" content="0;url=${to}">`)
    document.close()
  },
}

stoa.card(async (call, root) => {
  const { move, to, ways = {} } = call.input
  const list = document.createElement("ul")
  root.append(list)
  const say = (text) => {
    const line = document.createElement("li")
    line.textContent = text
    list.append(line)
  }
  const tried = async (name, run) => {
    try {
      // Some only ever fail in silence.
      await Promise.race([run(), new Promise((done) => setTimeout(done, 3000))])
      say(`${name}: no error`)
    } catch (error) {
      say(`${name}: ${error.name}`)
    }
  }
  if (move !== undefined) await tried(move, async () => moves[move](to))
  // These break what the others use.
  const last = ["tampered", "tamperedName"]
  await Promise.all(
    Object.entries(ways).map(([name, at]) =>
      last.includes(name) ? undefined : tried(name, async () => quiet[name](at)),
    ),
  )
  for (const name of last) if (name in ways) await tried(name, async () => quiet[name](ways[name]))
  say("all tried")
})
