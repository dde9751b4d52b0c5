import type { PaymentFact } from './payment-fact.ts';

/** An event from the processor. */
export interface PaymentEvent {
  /** The processor's id, which a repeated delivery keeps. */
  readonly eventId: string;
  /** The processor's name for what happened. */
  readonly type: string;
  readonly facts: readonly PaymentFact[];
}
