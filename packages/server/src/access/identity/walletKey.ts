/** One wallet, however its address is written. Pure. */

/** An address of Ethereum's form may be written in any case (EIP-55 makes a checksum of it); elsewhere case tells two apart. */
export const walletKey = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address)
