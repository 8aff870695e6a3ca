/** The services that effect/cli needs. */
// edge: stdin, stdout and stderr.
import { Effect, FileSystem, Layer, Path, Sink, Stdio, Stream, Terminal } from "effect"
import { ChildProcessSpawner } from "effect/process"

const write = (out: NodeJS.WriteStream) => () =>
  Sink.forEach((chunk: string | Uint8Array) => Effect.sync(() => void out.write(chunk)))

export const services = Layer.mergeAll(
  FileSystem.layerNoop({}),
  Path.layer,
  Layer.succeed(
    Stdio.Stdio,
    Stdio.make({
      args: Effect.sync(() => process.argv.slice(2)),
      stdinIsTerminal: Effect.sync(() => process.stdin.isTTY),
      stdoutIsTerminal: Effect.sync(() => process.stdout.isTTY),
      stderrIsTerminal: Effect.sync(() => process.stderr.isTTY),
      stdout: write(process.stdout),
      stderr: write(process.stderr),
      stdin: Stream.fromAsyncIterable(process.stdin, (cause) => cause as never) as Stream.Stream<Uint8Array>,
    }),
  ),
  Layer.succeed(
    Terminal.Terminal,
    Terminal.make({
      columns: Effect.sync(() => process.stdout.columns ?? 80),
      rows: Effect.sync(() => process.stdout.rows ?? 24),
      size: Effect.die("no resize events here"),
      readInput: Effect.die("no key events here"),
      readLine: Effect.die("nothing is asked here"),
      display: (text) => Effect.sync(() => void process.stdout.write(text)),
    }),
  ),
  Layer.succeed(
    ChildProcessSpawner.ChildProcessSpawner,
    ChildProcessSpawner.make(() => Effect.die("nothing is spawned here")),
  ),
)
