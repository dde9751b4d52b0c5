import type { Random } from '../../random.ts';

/** 192 unpredictable bits: some of the names are all that is needed to pay. */
const REF_BYTES = 24;

/** @param kind says what it names: `cs` a checkout, `pi` a payment, `su` a subscription, `in` an invoice, `nt` an event */
export function newRef(random: Random, kind: 'cs' | 'pi' | 'su' | 'in' | 'nt'): string {
  return `${kind}_test_${random.bytes(REF_BYTES).toString('base64url')}`;
}
