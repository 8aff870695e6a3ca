/**
 * A form from a JSON Schema: for forms, for edits of a call, and for trying a tool. What it cannot draw is a JSON box.
 */
import { type ReactNode, useId } from "react"
import type { Json } from "../../feed/types.ts"
import { Icon } from "../icons/Icon.tsx"
import { fieldShapeOf, type Issue, initialValue, type JsonSchema } from "./schemaForm.logic.ts"
import { isFields } from "./json.logic.ts"
import { Chips } from "./Chips.tsx"
import { JsonBox } from "./JsonBox.tsx"
import { words } from "./words/en.ts"

export interface SchemaFormProps {
  readonly schema: JsonSchema
  readonly value: Json | undefined
  readonly onChange: (value: Json | undefined) => void
  readonly issues: ReadonlyArray<Issue>
  /** The value before a person changed it; then changes are marked. */
  readonly was?: Json
}

interface Place extends SchemaFormProps {
  readonly root: JsonSchema
  readonly name: string
  readonly path: string
  readonly required: boolean
}

const titleOf = ({ name, schema }: Pick<Place, "name" | "schema">): string =>
  typeof schema["title"] === "string" ? schema["title"] : name

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const shown = (value: Json | undefined) =>
  value === undefined ? words.nothing : typeof value === "string" ? value : JSON.stringify(value)

const Field = (place: Place & { readonly children: (id: string, props: Record<string, unknown>) => ReactNode }) => {
  const { children, issues, path, required, schema, value, was } = place
  const id = useId()
  const fault = issues.find((one) => one.path === path)
  const isChanged = "was" in place && !same(was, value)
  const description = typeof schema["description"] === "string" ? schema["description"] : undefined
  const title = titleOf(place)
  const notes = [fault === undefined ? "" : `${id}-wrong`, description === undefined ? "" : `${id}-hint`]
    .join(" ")
    .trim()
  return (
    <div className="field">
      {title === "" ? null : (
        <label htmlFor={id}>
          {title}
          {isChanged ? <span className="tag">{words.changed}</span> : null}
          {required ? null : <span className="hint">{words.optional}</span>}
        </label>
      )}
      {children(id, {
        id,
        "aria-invalid": fault === undefined ? undefined : true,
        "aria-describedby": notes === "" ? undefined : notes,
        "data-changed": isChanged ? "" : undefined,
        required,
      })}
      {description === undefined ? null : (
        <span className="hint" id={`${id}-hint`}>
          {description}
        </span>
      )}
      {isChanged ? (
        <span className="was">
          {words.was} <del>{shown(was)}</del>
        </span>
      ) : null}
      {fault === undefined ? null : (
        <span className="wrong" id={`${id}-wrong`}>
          <Icon name="circle-alert" small /> {fault.message}
        </span>
      )}
    </div>
  )
}

const maxButtons = 5

const One = (place: Place): ReactNode => {
  const { name, onChange, path, root, schema, value } = place
  const how = fieldShapeOf(schema, root, name)
  switch (how.as) {
    case "object": {
      const fields = isFields(value) ? value : {}
      const before = isFields(place.was) ? place.was : undefined
      const needed = Array.isArray(schema["required"]) ? schema["required"] : []
      const inner = how.fields.map(([key, one]) => (
        <One
          key={key}
          {...place}
          {...(before === undefined ? {} : { was: before[key] as Json })}
          schema={one}
          name={key}
          path={path === "" ? key : `${path}.${key}`}
          required={needed.includes(key)}
          value={fields[key]}
          onChange={(next) => {
            const { [key]: _, ...rest } = fields
            onChange(next === undefined ? rest : { ...fields, [key]: next })
          }}
        />
      ))
      return path === "" ? (
        <div className="stack">{inner}</div>
      ) : (
        <fieldset className="stack nested">
          <legend className="name">{titleOf(place)}</legend>
          {inner}
        </fieldset>
      )
    }
    case "fixed":
      return (
        <Field {...place}>
          {(_, props) => <input className="input" readOnly value={shown(how.value)} {...props} />}
        </Field>
      )
    case "boolean":
      return (
        <Field {...place} required>
          {(_, { required: __, ...props }) => (
            <span className="line">
              <input
                type="checkbox"
                checked={value === true}
                onChange={(event) => onChange(event.target.checked)}
                {...props}
              />
              {words.yes}
            </span>
          )}
        </Field>
      )
    case "number":
      return (
        <Field {...place}>
          {(_, props) => (
            <input
              className="input"
              type="number"
              step={how.whole ? 1 : "any"}
              value={typeof value === "number" ? value : ""}
              onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.valueAsNumber)}
              {...props}
            />
          )}
        </Field>
      )
    case "text":
      return (
        <Field {...place}>
          {(_, props) =>
            how.multi || (typeof value === "string" && (value.includes("\n") || value.length > 90)) ? (
              <textarea
                className="input"
                rows={4}
                value={typeof value === "string" ? value : ""}
                onChange={(event) => onChange(event.target.value)}
                {...props}
              />
            ) : (
              <input
                className="input"
                type={how.secret ? "password" : how.type}
                autoComplete="off"
                value={typeof value === "string" ? value : ""}
                onChange={(event) =>
                  onChange(event.target.value === "" && !place.required ? undefined : event.target.value)
                }
                {...props}
              />
            )
          }
        </Field>
      )
    case "choice":
      return (
        <Field {...place}>
          {(id, { required: __, ...props }) =>
            how.choices.length <= maxButtons ? (
              <div className="line wrap" role="radiogroup" aria-label={name} {...props}>
                {how.choices.map((choice) => (
                  <label
                    key={choice.name}
                    className="pill choice"
                    data-tone={same(choice.value, value) ? "accent" : undefined}
                  >
                    <input
                      type="radio"
                      name={id}
                      checked={same(choice.value, value)}
                      onChange={() => onChange(choice.value)}
                    />
                    {choice.name}
                  </label>
                ))}
              </div>
            ) : (
              <select
                className="input"
                value={how.choices.findIndex((choice) => same(choice.value, value))}
                onChange={(event) => onChange(how.choices[Number(event.target.value)]?.value)}
                {...props}
              >
                <option value={-1}>{words.choose}</option>
                {how.choices.map((choice, at) => (
                  <option key={choice.name} value={at}>
                    {choice.name}
                  </option>
                ))}
              </select>
            )
          }
        </Field>
      )
    case "chips":
      return (
        <Field {...place}>
          {(id) => (
            <Chips
              id={id}
              name={name}
              numbers={fieldShapeOf(how.items, root).as === "number"}
              value={Array.isArray(value) ? value : []}
              onChange={onChange}
            />
          )}
        </Field>
      )
    case "rows": {
      const list = Array.isArray(value) ? value : []
      return (
        <Field {...place}>
          {(id) => (
            <div className="stack nested" id={id}>
              {list.map((item, at) => (
                <div key={at} className="line row">
                  <div className="grow">
                    <One
                      root={root}
                      schema={how.items}
                      name=""
                      path={`${path}.${at}`}
                      required
                      issues={place.issues}
                      value={item}
                      onChange={(next) => onChange(list.map((old, where) => (where === at ? (next ?? null) : old)))}
                    />
                  </div>
                  <button
                    type="button"
                    className="button plain icon"
                    aria-label={words.remove(String(at + 1))}
                    onClick={() => onChange(list.filter((_, where) => where !== at))}
                  >
                    <Icon name="x" small />
                  </button>
                </div>
              ))}
              <button
                type="button"
                className="button tiny"
                onClick={() => onChange([...list, initialValue(how.items, root) ?? {}])}
              >
                <Icon name="plus" small />
                {words.addTo(name)}
              </button>
            </div>
          )}
        </Field>
      )
    }
    case "json":
      return (
        <Field {...place}>
          {(id) => (
            <>
              <JsonBox id={id} value={value} onChange={onChange} label={titleOf(place) || words.whole} />
              <details className="small faint">
                <summary>{words.asJson}</summary>
                <pre className="code">{JSON.stringify(schema, null, 2)}</pre>
              </details>
            </>
          )}
        </Field>
      )
  }
}

export const SchemaForm = (props: SchemaFormProps) => <One {...props} root={props.schema} name="" path="" required />
