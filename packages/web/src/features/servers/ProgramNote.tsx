/** A program before it is run: exactly what would run, and the button that lets it. */
import { type MCPServerProgram, visibleJson } from "@stoa/contract"
import { Icon } from "../../parts/icons/Icon.tsx"
import { words } from "./words/en.ts"

export interface ProgramNoteProps {
  readonly program: MCPServerProgram
  readonly run: (digest: string) => void
}

/** Quoted: no argument can look like two, or like none. */
const Row = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div className="pair">
    <dt>{name}</dt>
    <dd className="pre">{value}</dd>
  </div>
)

export const ProgramNote = ({ program, run }: ProgramNoteProps) => (
  <section className="note stack" data-tone="warn" aria-label={words.runs}>
    <p className="line strong" role="status">
      <Icon name="triangle-alert" small />
      <span>{words.runs}</span>
    </p>
    <dl className="args">
      <Row name={words.program} value={visibleJson(program.command)} />
      {program.args.map((one, at) => (
        <Row key={at} name={words.argument} value={visibleJson(one)} />
      ))}
      {Object.entries(program.env).map(([name, value]) => (
        <Row key={name} name={words.variable} value={`${name}=${visibleJson(value)}`} />
      ))}
    </dl>
    <p className="small">{words.runsWhere}</p>
    <p>
      <button type="button" className="button" onClick={() => run(program.digest)}>
        {words.runIt}
      </button>
    </p>
  </section>
)
