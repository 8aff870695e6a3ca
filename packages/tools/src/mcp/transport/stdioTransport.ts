/**
 * The SDK's stdio transport, replaced for three reasons: it passes on part of our environment, it ends only the process
 * and not what that started, and it probes a server's era on a second process, where one will do.
 */
// edge: the SDK's transports are promises and callbacks
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client"
import { Child, type ChildOptions } from "./child.ts"

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** With `pid` the mark by which the SDK knows a pipe, on which silence means an old server and not an outage. */
  readonly stderr = null
  #child: Child | undefined
  #closed = false
  #delivering = false
  #delivered: Promise<void> = Promise.resolve()
  readonly #options: ChildOptions
  readonly #buffer: ReadBuffer

  constructor(options: ChildOptions, maxMessageBytes: number) {
    this.#options = options
    this.#buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes })
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }
  get said(): string {
    return this.#child?.said ?? ""
  }
  get unstartable(): boolean {
    return this.#child?.unstartable ?? false
  }

  async start(): Promise<void> {
    const child = new Child(this.#options)
    this.#child = child
    void child.ended.then(() => this.#delivered).then(() => this.#end())
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk))
    await child.spawned
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return
    try {
      this.#buffer.append(chunk)
    } catch (error) {
      // A message beyond the limit: what follows cannot be told from its rest, so the connection ends.
      this.onerror?.(error as Error)
      void this.close()
      return
    }
    if (this.#delivering) return
    this.#delivering = true
    this.#delivered = this.#deliver()
  }

  /** One message a turn: the SDK looks at a notification a turn late, and an answer at its heels would overtake it. */
  async #deliver(): Promise<void> {
    for (;;) {
      try {
        const message = this.#buffer.readMessage()
        if (message === null) break
        this.onmessage?.(message)
      } catch (error) {
        this.onerror?.(error as Error)
      }
      await Promise.resolve()
    }
    this.#delivering = false
  }

  #end(): void {
    if (this.#closed) return
    this.#closed = true
    this.#buffer.clear()
    this.onclose?.()
  }

  async close(): Promise<void> {
    const child = this.#child
    this.#end()
    await child?.end()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child
    if (child === undefined || this.#closed) throw new Error("Not connected")
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()))
    })
  }
}
