import type { Random } from '../../random.ts';

/** 192 random bits: with some of the ids alone, anyone can open a payment page. */
const REF_BYTES = 24;

/** @param kind the prefix: `cs` for a checkout, `pi` a payment, `su` a subscription, `in` an invoice, `nt` an event */
export function newRef(random: Random, kind: 'cs' | 'pi' | 'su' | 'in' | 'nt'): string {
  return `${kind}_test_${random.bytes(REF_BYTES).toString('base64url')}`;
}
