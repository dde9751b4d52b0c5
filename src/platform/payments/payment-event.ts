import type { PaymentFact } from './payment-fact.ts';

/** A message of the processor. */
export interface PaymentEvent {
  /** The processor's: the same one when it is sent again. */
  readonly eventId: string;
  /** The processor's word for what happened. */
  readonly type: string;
  readonly facts: readonly PaymentFact[];
}
