/**
 * What the command line loads of the server: running it, alone or embedded in another program, and the commands that
 * need no running house.
 */
export { offline } from "./operations/Offline.ts"
export { embed, serve } from "./serve.ts"
