/** How a failure crosses the wire: RFC 9457, `{type,title,status,detail,tag,issues?}`, one documented page per tag. */
import { Schema, SchemaAST, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"

export const contentType = "application/problem+json"

export const Issue = Schema.Struct({ path: Schema.String, message: Schema.String })
export type Issue = typeof Issue.Type

/** How many issues are sent: enough to fix a body. */
const maxIssues = 50
/** Paths and messages may contain the sender's text: each is cut at this length. */
const longestWords = 500

const bounded = (text: string): string => (text.length > longestWords ? `${text.slice(0, longestWords)}…` : text)

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Only the first issues: the others are not even formatted. */
const firstOf = (issue: SchemaIssue.Issue, room: { left: number }): SchemaIssue.Issue => {
  if ("issues" in issue && issue.issues.length > 0) {
    const issues: Array<SchemaIssue.Issue> = []
    for (const one of issue.issues) {
      if (room.left <= 0) break
      issues.push(firstOf(one, room))
    }
    return changed(issue, { issues })
  }
  if ("issue" in issue) return changed(issue, { issue: firstOf(issue.issue, room) })
  room.left--
  return issue._tag === "UnexpectedKey" ? withFields(issue) : issue
}
/** Which fields there are, where one was given that is not. */
const withFields = (issue: SchemaIssue.UnexpectedKey): SchemaIssue.Issue => {
  const { ast } = issue
  if (ast._tag !== "Objects") return issue
  const names = ast.propertySignatures.map(({ name }) => String(name))
  const messageUnexpectedKey = `is not a field here; the fields are ${names.join(", ")}`
  return changed(issue, { ast: changed(ast, { annotations: { ...ast.annotations, messageUnexpectedKey } }) })
}
const changed = <A extends object>(of: A, by: object): A =>
  Object.assign(Object.create(Object.getPrototypeOf(of) as object) as A, of, by)

/** What a schema found wrong, with readable paths: `members.2.name`. Only the first issues, if there are many. */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  firstIssues(
    format(firstOf(error.issue, { left: maxIssues + 1 })).issues.map((issue) => ({
      path: (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join("."),
      message: inWords(issue.message),
    })),
  )

/** What a schema calls its faults says nothing to whoever wrote the body. */
const inWords = (message: string): string =>
  message === "Missing key"
    ? "is missing"
    : // The name of one of our own objects: a schema of a single value is named by what it accepts.
      message.replace(/^Expected (?:object|New[A-Z]\w*)$/, "must be an object")

/** At most `maxIssues`, with cut texts. */
export const firstIssues = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> => {
  const first = issues
    .slice(0, maxIssues)
    .map(({ message, path }) => ({ path: bounded(path), message: bounded(message) }))
  return issues.length > maxIssues
    ? [...first, { path: "", message: `and more; these are the first ${maxIssues}` }]
    : first
}

export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly tag: string
}

/** Where the page of a tag is served. */
export const pageOf = (tag: string): string => `/docs/errors/${tag}`

/** `TokenUnknown` reads "Token unknown", `MCPConnectionError` "MCP connection error". */
const titleOf = (tag: string): string => {
  const words = tag.replace(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ").split(" ")
  const lower = words.map((word) => (/[a-z]/.test(word) ? word.toLowerCase() : word)).join(" ")
  return lower.charAt(0).toUpperCase() + lower.slice(1)
}

export const bodyOf = (tag: string, status: number, detail: string): ProblemBody => ({
  type: pageOf(tag),
  title: titleOf(tag),
  status,
  detail,
  tag,
})

type ErrorClass = Schema.Top & {
  readonly identifier: string
  readonly fields: Schema.Struct.Fields
  new (props: never): { readonly _tag: string; readonly message: string }
}

/** The status a class declares with `httpApiStatus`. */
export const statusOf = (self: Schema.Top): number => (SchemaAST.resolve(self.ast)?.["httpApiStatus"] as number) ?? 500

// One codec per class, so that the OpenAPI document names it once.
const made = new WeakMap<ErrorClass, unknown>()

/** The error class as an endpoint declares it: sent as a problem document, decoded back into an instance by its tag. */
export const problem = <S extends ErrorClass>(self: S): Schema.Codec<S["Type"], ProblemBody> => {
  const known = made.get(self)
  if (known !== undefined) return known as never
  const codec = build(self)
  made.set(self, codec)
  return codec as never
}

const build = (self: ErrorClass): unknown => {
  // A field named message travels as the detail, so that the sentence is sent once.
  const { _tag, message, ...fields } = self.fields
  const tag = self.identifier
  const status = statusOf(self)
  return Schema.Struct({
    type: Schema.String,
    title: Schema.String,
    status: Schema.Int,
    detail: Schema.String,
    tag: Schema.Literal(tag),
    ...fields,
  }).pipe(
    Schema.decodeTo(
      Schema.toType(self) as Schema.Top,
      SchemaTransformation.transform({
        decode: (body: ProblemBody) =>
          new self((message === undefined ? body : { ...body, message: body.detail }) as never) as unknown,
        encode: (error: unknown) => ({
          ...(error as object),
          ...("issues" in fields ? { issues: firstIssues((error as { issues: ReadonlyArray<Issue> }).issues) } : {}),
          ...bodyOf(tag, status, (error as Error).message),
        }),
      }) as never,
    ),
    HttpApiSchema.asJson({ contentType }),
    HttpApiSchema.status(status),
  )
}
