/** For tests of agents and of programs that use a house: a whole house in the test's own process. */
export type { NetworkFault } from "./faults.ts"
export * from "./suites/index.ts"
export { type HouseOptions, type ScriptedRule, startHouse, type TestHouse } from "./TestHouse.ts"
