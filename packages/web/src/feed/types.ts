/** The types of the house's answers, as JSON carries them. */
import type * as Contract from "@stoa/contract"
import type { Plain } from "@stoa/sdk"

export type Start = Plain<Contract.Start>
export type Space = Plain<Contract.Space>
export type Member = Space["members"][number]
export type Message = Plain<Contract.Message>
export type MessageCall = NonNullable<Message["call"]>
export type Decision = Plain<Contract.Decision>
export type Approval = Plain<Contract.Approval>
export type Principal = Plain<Contract.Principal>
export type Run = Plain<Contract.Run>
export type RunStep = Plain<Contract.RunStep>
export type RunMessage = Plain<Contract.RunMessage>
export type MemoryRecord = Plain<Contract.MemoryRecord>
export type MemoryVersion = Plain<Contract.MemoryVersion>
export type MemoryOffer = Plain<Contract.MemoryOffer>
/** An input, a result or another value of a tool. */
export type Json = MessageCall["input"]
