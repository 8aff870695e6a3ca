/** One wallet, however its address is written. Pure. */

/** An address of Ethereum's form may be written in any case (EIP-55 makes a checksum of it); elsewhere case tells two apart. */
export const walletKey = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address)

/** The same of a rule's resource: `wallets/0xAB…` is `wallets/0xab…`. */
export const walletResource = (resource: string): string =>
  resource.startsWith("wallets/") ? `wallets/${walletKey(resource.slice("wallets/".length))}` : resource
