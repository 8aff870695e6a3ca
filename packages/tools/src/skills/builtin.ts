/** The five built-in skills, in seed 004's order (S4-83). */
import type { Tool } from "../Handler.ts"
import { codeExecute } from "./codeExecute.ts"
import { fileRead, fileWrite } from "./files.ts"
import { httpGet } from "./httpGet.ts"
import { webSearch } from "./webSearch.ts"

export const builtinSkills: ReadonlyArray<Tool> = [webSearch, fileRead, fileWrite, httpGet, codeExecute]
