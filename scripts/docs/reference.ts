// An API reference written from the types: every export of a package root with its shape and its own comment.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import type * as TypeScript from "typescript"

// TypeScript 6, this folder's own: 7 has no compiler API.
const ts = createRequire(import.meta.url)("typescript") as typeof TypeScript

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()
const longest = 400

const kindOf = (flags: TypeScript.SymbolFlags): string => {
  if (flags & ts.SymbolFlags.Class) return "class"
  if (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) return "type"
  if (flags & ts.SymbolFlags.Function) return "function"
  return "value"
}

/** What a type is made of, as it stands in the source; what a value is, as the compiler sees it. */
const shapeOf = (checker: TypeScript.TypeChecker, symbol: TypeScript.Symbol): string => {
  const declaration = symbol.declarations?.[0]
  if (declaration === undefined) return ""
  if (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration))
    return declaration.getText().replace(/^export /, "")
  if (ts.isModuleDeclaration(declaration) || ts.isSourceFile(declaration)) {
    const names = checker.getExportsOfModule(symbol).map((one) => one.name)
    return names.toSorted().join(", ")
  }
  if (ts.isClassDeclaration(declaration)) {
    const heritage = declaration.heritageClauses?.map((clause) => clause.getText()).join(" ") ?? ""
    return oneLine(`class ${symbol.name} ${heritage}`)
  }
  const type = checker.getTypeOfSymbolAtLocation(symbol, declaration)
  return oneLine(checker.typeToString(type, declaration, ts.TypeFormatFlags.NoTruncation))
}

const entry = (checker: TypeScript.TypeChecker, exported: TypeScript.Symbol): string => {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  const comment = oneLine(ts.displayPartsToString(symbol.getDocumentationComment(checker)))
  const shape = shapeOf(checker, symbol)
  const code = shape.length > longest && !shape.includes("\n") ? `${shape.slice(0, longest)} …` : shape
  return [
    `### ${exported.name} (${kindOf(symbol.flags)})`,
    ...(comment === "" ? [] : [comment]),
    `\`\`\`ts\n${code}\n\`\`\``,
  ].join("\n\n")
}

/** The page of a package, by what its index exports. */
export const referenceOf = (root: string, folder: string): string => {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    readonly name: string
    readonly description: string
  }
  const index = join(root, folder, "src/index.ts")
  const config = ts.readConfigFile(join(root, "tsconfig.json"), (path) => readFileSync(path, "utf8"))
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  const program = ts.createProgram([index], { ...options, noEmit: true, incremental: false })
  const checker = program.getTypeChecker()
  const module = checker.getSymbolAtLocation(program.getSourceFile(index)!)!
  const exported = checker.getExportsOfModule(module).toSorted((one, other) => (one.name < other.name ? -1 : 1))
  if (exported.length === 0) throw new Error(`${folder} exports nothing`)
  return [
    `# ${manifest.name}`,
    `${manifest.description} Made from the types by \`npm run docs\`.`,
    ...exported.map((one) => entry(checker, one)),
    "",
  ].join("\n\n")
}
