import type { CardFaults, CardForm } from './card-state.ts';
import type { CheckoutState } from './checkout-store.ts';
import type { Interval } from '../../calendar-state.ts';

export { TEST_CARDS, type CardFaults, type CardForm } from './card-state.ts';

/** A purchase, as its page shows it. */
export interface CheckoutView {
  readonly sessionRef: string;
  readonly state: CheckoutState;
  readonly productName: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly recurring: Interval | null;
  readonly email: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** What has been paid for a purchase until now. */
export interface ReceiptView extends CheckoutView {
  /** The last one first. */
  readonly payments: readonly {
    readonly paymentRef: string;
    readonly number: string;
    readonly paidAt: Date;
    readonly amountMinor: number;
    readonly refundedMinor: number;
    readonly dispute: 'open' | 'won' | 'lost' | null;
  }[];
  readonly subscription: {
    readonly state: 'active' | 'past_due' | 'ended';
    readonly productName: string;
    readonly amountMinor: number;
    readonly recurring: Interval;
    readonly periodEnd: Date;
    readonly cancelAtPeriodEnd: boolean;
    readonly cardPays: boolean;
  } | null;
}

/** What came of a form: what is wrong with it, or that the card or the bank does not pay, in words; else neither. */
export interface PayResult {
  readonly checkout: CheckoutView;
  readonly faults?: CardFaults;
  readonly declined?: string;
}

/** What can be tried out on a receipt. */
export type TestTool = 'dispute' | 'dispute_won' | 'dispute_lost' | 'renewals_pay' | 'renewals_fail';

/** What the pages of the test processor need. Each method gives undefined for a session that does not exist. */
export interface CheckoutPage {
  readonly webUrl: () => string;
  view(sessionRef: string): Promise<CheckoutView | undefined>;
  /** Pays once, however often it is asked: what is not open stays as it is. */
  pay(sessionRef: string, form: CardForm): Promise<PayResult | undefined>;
  /** The payer has answered his bank. */
  authenticate(sessionRef: string, approved: boolean): Promise<PayResult | undefined>;
  receipt(sessionRef: string): Promise<ReceiptView | undefined>;
  /** @param paymentRef of this session; not needed for renewals @returns whether there was anything to be done */
  useTool(sessionRef: string, tool: TestTool, paymentRef: string): Promise<boolean | undefined>;
}
