/** What the command line loads of the server: to run it, alone or inside of another program, and the work that needs no running house. */
export { offline } from "./Offline.ts"
export { embed, serve } from "./serve.ts"
