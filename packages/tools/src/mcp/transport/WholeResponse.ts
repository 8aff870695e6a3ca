/**
 * An answer that was read completely, within the limit, before it was passed on. Most answers are small and are read
 * like this: a stream would cost more than everything else about them.
 */
// edge: fetch speaks promises
export class WholeResponse extends Response {
  readonly #bytes: Uint8Array

  /** `url`: where it came from. */
  constructor(bytes: Uint8Array, init: ResponseInit, url: string) {
    super(null, init)
    this.#bytes = bytes
    Object.defineProperty(this, "url", { value: url })
  }

  #text(): string {
    return new TextDecoder().decode(this.#bytes)
  }

  override get body(): Response["body"] {
    return new Response(this.#bytes.slice()).body
  }
  override async text(): Promise<string> {
    return this.#text()
  }
  override async json(): Promise<unknown> {
    return JSON.parse(this.#text())
  }
  override async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer
  }
}
