/** MCP over a WebSocket: not a standard, but seed 004 has it (S4-72). One message per frame, subprotocol `mcp`. */
// edge: the SDK's transports are promises and callbacks, the platform's WebSocket is events
import { deserializeMessage, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client"

export class WebSocketTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** The marks of a pipe (see StdioTransport): these servers are old, and may leave a probe unanswered. */
  readonly stderr = null
  readonly pid = null
  #socket: WebSocket | undefined
  #closed = false
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #maxMessageBytes: number

  constructor(url: string, headers: Readonly<Record<string, string>>, maxMessageBytes: number) {
    this.#url = url
    this.#headers = headers
    this.#maxMessageBytes = maxMessageBytes
  }

  start(): Promise<void> {
    // Node's WebSocket accepts headers, the browser's does not; the standard types have only the latter.
    const options = { protocols: ["mcp"], headers: this.#headers } as unknown as Array<string>
    const socket = new WebSocket(this.#url, options)
    this.#socket = socket
    socket.addEventListener("message", (event) => this.#read(event.data))
    socket.addEventListener("close", () => this.#end())
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(), { once: true })
      socket.addEventListener("error", (event) => {
        const error = new Error(`WebSocket to ${this.#url} failed: ${(event as ErrorEvent).message || "no connection"}`)
        reject(error)
        this.onerror?.(error)
      })
    })
  }

  #read(data: unknown): void {
    if (this.#closed) return
    if (typeof data !== "string") return this.onerror?.(new Error("A binary frame is no MCP message"))
    if (data.length > this.#maxMessageBytes) {
      this.onerror?.(new Error(`A message of ${data.length} characters; ${this.#maxMessageBytes} are the most`))
      void this.close()
      return
    }
    try {
      this.onmessage?.(deserializeMessage(data))
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #end(): void {
    if (this.#closed) return
    this.#closed = true
    this.onclose?.()
  }

  async close(): Promise<void> {
    const socket = this.#socket
    this.#end()
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, 1000)
      socket.addEventListener("close", () => {
        clearTimeout(late)
        resolve()
      })
      socket.close()
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed || this.#socket?.readyState !== WebSocket.OPEN) throw new Error("Not connected")
    this.#socket.send(JSON.stringify(message))
  }
}
