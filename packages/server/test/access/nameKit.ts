/** Every place of the HTTP API in which a caller names a principal, derived from the contract. */
import { Api, NewDelegation } from "@stoa/contract"
import type { Schema, SchemaAST } from "effect"
import type { Sample } from "./authorizationSamples.ts"

export interface NamedPlace {
  /** Group and endpoint, as `authorizationSamples.ts` names them. */
  readonly route: string
  readonly method: string
  readonly path: string
  readonly where: "params" | "query" | "payload"
  /** A list of names, whose items they are. */
  readonly list: boolean
  readonly field: string
}

const nameOrId = NewDelegation.fields.to.ast

const isRef = (ast: SchemaAST.AST): boolean =>
  ast.checks === nameOrId.checks || (ast._tag === "Union" && ast.types.some(isRef))
const isList = (ast: SchemaAST.AST): boolean => ast._tag === "Arrays" && ast.rest.some(isRef)

/** The fields of a schema, of all its alternatives, that are names of principals. */
const fieldsIn = (ast: SchemaAST.AST): ReadonlyArray<Pick<NamedPlace, "field" | "list">> =>
  ast._tag === "Union"
    ? ast.types.flatMap(fieldsIn)
    : ast._tag === "Objects"
      ? ast.propertySignatures.flatMap(({ name, type }) =>
          isRef(type) || isList(type) ? [{ field: String(name), list: isList(type) }] : [],
        )
      : []

export const namedPlaces: ReadonlyArray<NamedPlace> = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).flatMap(({ identifier, method, params, path, payload, query }) => {
    const parts = {
      params: params === undefined ? [] : fieldsIn(params.ast),
      query: query === undefined ? [] : fieldsIn(query.ast),
      payload: [...payload.values()].flatMap(({ schemas }) => schemas.flatMap(({ ast }: Schema.Top) => fieldsIn(ast))),
    }
    return (["params", "query", "payload"] as const).flatMap((where) =>
      parts[where].map((field) => ({ route: `${group.identifier}.${identifier}`, method, path, where, ...field })),
    )
  }),
)

/** The request of a sample, with this name in this place. */
export const requestWith = (place: NamedPlace, sample: Sample, ref: string) => {
  const { field, list, method, where } = place
  const params = where === "params" ? { ...sample.params, [field]: ref } : (sample.params ?? {})
  const path = place.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const query = new URLSearchParams(sample.query)
  if (where === "query") query.set(field, ref)
  const named = where === "payload" ? { [field]: list ? [ref] : ref } : undefined
  const body = sample.body === undefined && named === undefined ? undefined : { ...Object(sample.body), ...named }
  return {
    path: `${path}?${query}`,
    init: { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
  }
}

interface Form {
  readonly type?: string | ReadonlyArray<string>
  readonly enum?: ReadonlyArray<unknown>
  readonly items?: Form
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Form>>
  readonly required?: ReadonlyArray<string>
}

const isText = (form: Form): boolean => form.enum === undefined && [form.type].flat().includes("string")
const isTexts = (form: Form): boolean => form.type === "array" && form.items !== undefined && isText(form.items)

/** The fields of a tool's input that any text, or a list of any texts, can be. */
export const textsIn = ({ properties = {} }: Form): ReadonlyArray<string> =>
  Object.entries(properties).flatMap(([field, form]) => (isText(form) || isTexts(form) ? [field] : []))

const least = (form: Form): unknown =>
  form.enum !== undefined
    ? form.enum[0]
    : isText(form)
      ? "some words"
      : form.type === "object"
        ? leastOf(form)
        : form.type === "array"
          ? form.items === undefined
            ? []
            : [least(form.items)]
          : form.type === "boolean"
            ? false
            : (form.minimum ?? 1)
const leastOf = ({ properties = {}, required = [] }: Form): Record<string, unknown> =>
  Object.fromEntries(
    // Numbers in any case: the least time to wait is the shortest.
    Object.entries(properties).flatMap(([field, form]) =>
      required.includes(field) || form.minimum !== undefined ? [[field, least(form)]] : [],
    ),
  )

/** The least that a tool accepts, with this text in this field. */
export const inputWith = (form: Form, field: string, text: string): Record<string, unknown> => ({
  ...leastOf(form),
  [field]: isTexts(form.properties?.[field] ?? {}) ? [text] : text,
})
