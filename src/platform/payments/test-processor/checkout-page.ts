import type { CardFaults, CardForm } from './card-state.ts';
import type { CheckoutState } from './checkout-store.ts';
import type { Interval } from '../../calendar-state.ts';

export { TEST_CARDS, type CardFaults, type CardForm } from './card-state.ts';

/** A purchase as its page shows it. */
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

/** The payments of a purchase until now. */
export interface ReceiptView extends CheckoutView {
  /** The latest first. */
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

/** The result of a form: its faults, or the text of a decline by the card or the bank; on success neither. */
export interface PayResult {
  readonly checkout: CheckoutView;
  readonly faults?: CardFaults;
  readonly declined?: string;
}

/** What the receipt page can simulate. */
export type TestTool = 'dispute' | 'dispute_won' | 'dispute_lost' | 'renewals_pay' | 'renewals_fail';

/** What the pages of the test processor need. Each method returns undefined if the session does not exist. */
export interface CheckoutPage {
  readonly webUrl: () => string;
  view(sessionRef: string): Promise<CheckoutView | undefined>;
  /** Pays an open session. A session that is no longer open stays unchanged, so a repeated call pays once. */
  pay(sessionRef: string, form: CardForm): Promise<PayResult | undefined>;
  /** Completes the simulated approval by the payer's bank. */
  authenticate(sessionRef: string, approved: boolean): Promise<PayResult | undefined>;
  receipt(sessionRef: string): Promise<ReceiptView | undefined>;
  /** @param paymentRef of this session; ignored for renewals @returns whether the tool applied */
  useTool(sessionRef: string, tool: TestTool, paymentRef: string): Promise<boolean | undefined>;
}
