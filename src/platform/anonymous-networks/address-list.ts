/** A list of addresses that was read whole. */
export interface AddressList {
  /** What the log says about it. */
  readonly summary: Readonly<Record<string, unknown>>;
  /** @param address in canonical form, see `canonicalAddress` */
  has(address: string): boolean;
}
