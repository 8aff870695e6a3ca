/** What the command line loads of the server: one function to run it, and the work that needs no running house. */
export { offline } from "./Offline.ts"
export { serve } from "./serve.ts"
