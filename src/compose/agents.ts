import { createMachinePayments } from '../machine-payments/machine-payments.ts';
import type { Payments } from '../platform/payments/index.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';

/** Whom the embedded test processor's payment tokens are made out to. */
const TEST_NETWORK = 'latchkey-test';

/** What programs do that act by themselves. */
export function composeAgents(before: Foundation & Accounts & { readonly payments: Payments }) {
  const { config, payments } = before;
  const networkId = payments.processor === 'test' ? TEST_NETWORK : config.stripe?.networkId;
  return { machinePayments: createMachinePayments({ ...before, networkId }) };
}
