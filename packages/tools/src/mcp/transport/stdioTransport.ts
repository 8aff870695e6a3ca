/**
 * Replaces the SDK's stdio transport for three reasons: it passes on part of our environment, it ends only the process
 * and not its children, and it probes a server's era on a second process, where one is enough.
 */
// edge: the SDK's transports are promises and callbacks
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client"
import { Program, type ProgramOptions } from "../../program/Program.ts"

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** With `pid` it marks a pipe for the SDK: on a pipe silence means an old server and not an outage. */
  readonly stderr = null
  #program: Program | undefined
  #closed = false
  #delivering = false
  #delivered: Promise<void> = Promise.resolve()
  readonly #options: ProgramOptions
  readonly #buffer: ReadBuffer

  constructor(options: ProgramOptions, maxMessageBytes: number) {
    this.#options = options
    this.#buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes })
  }

  get pid(): number | null {
    return this.#program?.pid ?? null
  }
  get stderrEnd(): string {
    return this.#program?.stderr ?? ""
  }
  get unstartable(): boolean {
    return this.#program?.unstartable ?? false
  }

  async start(): Promise<void> {
    const program = new Program(this.#options)
    this.#program = program
    void program.exited.then(() => this.#delivered).then(() => this.#end())
    program.stdout.on("data", (chunk: Buffer) => this.#read(chunk))
    await program.started
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return
    try {
      this.#buffer.append(chunk)
    } catch (error) {
      // A message beyond the limit: the rest of it cannot be told from the next message, so the connection ends.
      this.onerror?.(error as Error)
      void this.close()
      return
    }
    if (this.#delivering) return
    this.#delivering = true
    this.#delivered = this.#deliver()
  }

  /**
   * One message per turn: the SDK handles a notification a turn late, so an answer right after it would overtake it.
   */
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
    const program = this.#program
    this.#end()
    await program?.end()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const program = this.#program
    if (program === undefined || this.#closed) throw new Error("Not connected")
    const error = await new Promise<Error | null | undefined>((resolve) => {
      program.stdin.write(serializeMessage(message), resolve)
    })
    if (!error) return
    // It reads no more, so most likely it is ending, and its last words say why.
    await program.exitsSoon()
    throw error
  }
}
