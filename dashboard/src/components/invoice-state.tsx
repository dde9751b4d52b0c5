import type { Schemas } from '../api/client.ts';
import { Badge, type Tone } from './badge.tsx';

type State = Schemas['Invoice']['state'];

const TONES: Readonly<Record<State, Tone>> = {
  paid: 'good',
  failed: 'bad',
  partially_refunded: 'warn',
  refunded: 'neutral',
  disputed: 'bad',
};

const WORDS: Readonly<Record<State, string>> = {
  paid: 'Paid',
  failed: 'Payment failed',
  partially_refunded: 'Partly refunded',
  refunded: 'Refunded',
  disputed: 'Disputed',
};

/** The states of an invoice, as options of a filter. */
export const INVOICE_STATES = Object.entries(WORDS) as [State, string][];

/** Whether an invoice is paid, and what happened to it afterwards. */
export const InvoiceState = ({ state }: { readonly state: State }) => (
  <Badge tone={TONES[state]}>{WORDS[state]}</Badge>
);
