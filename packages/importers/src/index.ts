/**
 * Tools from other systems' files: each importer is pure, and returns tools in the house's own form with notes on what
 * it left out.
 */
export {
  importOpenApi,
  importOpenApiInSteps,
  type OpenApiImport,
  type OpenApiOptions,
} from "./openapi/importOpenApi.ts"
export { type Migrated, migrateTools } from "./version1/migrateTools.ts"
