/** The search index: texts by their words, the same on both databases. */
import { createSearchIndex } from "../search/index/tables.ts"

export default createSearchIndex
