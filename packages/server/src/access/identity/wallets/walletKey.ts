/** One key per wallet, however its address is written. Pure. */

/** Ethereum addresses may be written in any case (EIP-55 uses it as a checksum); elsewhere case matters. */
export const walletKey = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address)

/** The same for a rule's resource: `wallets/0xAB…` is `wallets/0xab…`. */
export const walletResource = (resource: string): string =>
  resource.startsWith("wallets/") ? `wallets/${walletKey(resource.slice("wallets/".length))}` : resource
