/** A server that has never heard of the new era: whatever carries its envelope is refused as such a server would. */
import { createServer, request as ask, type Server } from "node:http"

export const oldOnly = (target: URL): Promise<{ readonly server: Server; readonly url: string }> => {
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks)
      if (body.includes("io.modelcontextprotocol/protocolVersion")) {
        response.writeHead(400, { "content-type": "application/json" })
        response.end('{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: not initialized"},"id":null}')
        return
      }
      const headers = { ...request.headers, host: target.host }
      const passed = ask(target, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      passed.on("error", () => response.destroy())
      response.on("close", () => passed.destroy())
      passed.end(body)
    })
  })
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number }
      resolve({ server, url: `http://127.0.0.1:${port}${target.pathname}` })
    })
  })
}
