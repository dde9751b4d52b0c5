import type {
  CardFaults,
  CardForm,
  CheckoutView,
  ReceiptView,
} from '../../platform/payments/test-processor/checkout-page.ts';
import { TEST_CARDS } from '../../platform/payments/test-processor/checkout-page.ts';
import { escape } from './html.ts';
import {
  badge,
  dateText,
  dayText,
  faultOf,
  hostOf,
  linkTo,
  money,
  paymentPage,
  PERIODS,
} from './payment-parts.ts';

/** What the form shows besides the purchase. */
export interface FormState {
  /** The submitted values; never the number and the security code. */
  readonly typed?: Pick<CardForm, 'name' | 'expiry'>;
  readonly faults?: CardFaults;
  readonly declined?: string;
}

/** The form for the card. */
export function payPage(view: CheckoutView, state: FormState = {}): string {
  const { typed, faults = {}, declined } = state;
  const count = Object.keys(faults).length;
  const wrong =
    declined ?? (count > 0 ? `Please check ${count === 1 ? 'one field' : `${count} fields`}.` : undefined);
  const first = Object.keys(faults)[0] ?? (declined ? 'number' : 'name');
  const field = (name: keyof CardForm, label: string, attributes: string, value = '') => {
    const { marks, text } = faultOf(name, faults[name]);
    return `<div class="field"><label for="${name}">${label}</label>
      <input id="${name}" name="${name}" type="text" required ${attributes}
      value="${escape(value)}"${marks}${wrong !== undefined && name === first ? ' autofocus' : ''}>
      ${text}</div>`;
  };
  const digits = (mostLength: number) => `inputmode="numeric" maxlength="${mostLength}"`;
  const amount = money(view.amountMinor, view.currency);
  return paymentPage(
    `${wrong === undefined ? '' : 'Error: '}Pay ${amount}`,
    `<main class="sheet"><div class="sides">
      ${summary(view)}
      <div class="card">
        <h2>Pay by card</h2>
        ${wrong === undefined ? '' : `<p class="alert" role="alert">${escape(wrong)}</p>`}
        <form method="post" action="/pay/${escape(view.sessionRef)}" novalidate>
          ${field('name', 'Name on card', 'autocomplete="cc-name" maxlength="200"', typed?.name)}
          ${field('number', 'Card number', `autocomplete="cc-number" ${digits(30)} placeholder="4242 4242 4242 4242"`)}
          <div class="pair">
            ${field('expiry', 'Expires', `autocomplete="cc-exp" ${digits(12)} placeholder="MM / YY"`, typed?.expiry)}
            ${field('cvc', 'Security code', `autocomplete="cc-csc" ${digits(8)} placeholder="CVC"`)}
          </div>
          <div class="actions"><button class="button" type="submit">Pay ${escape(amount)}</button></div>
        </form>
        ${testCards()}
      </div>
    </div></main>`,
  );
}

function summary(view: CheckoutView): string {
  const amount = escape(money(view.amountMinor, view.currency));
  const period = view.recurring && PERIODS[view.recurring];
  return `<div class="summary">
    <a class="back" href="${linkTo(view.cancelUrl)}" rel="noreferrer"><span aria-hidden="true">←</span>
      Cancel, back to ${hostOf(view.cancelUrl)}</a>
    <h1><span class="product">${escape(view.productName)}</span>
      <span class="price">${amount}${period ? ` <span class="period">${period.each}</span>` : ''}</span></h1>
    <dl class="lines">
      <div><dt>Bought by</dt><dd>${escape(view.email)}</dd></div>
      ${period ? `<div><dt>Renews</dt><dd>${period.often}, until you cancel</dd></div>` : ''}
      <div class="total"><dt>Due today</dt><dd>${amount}</dd></div>
    </dl>
  </div>`;
}

function testCards(): string {
  const items = TEST_CARDS.map(
    ({ number, words }) =>
      `<li><code>${number.replace(/(.{4})(?=.)/g, '$1 ')}</code> <span class="soft">${words}</span></li>`,
  );
  return `<details class="test-cards" open><summary>Test cards</summary><ul>${items.join('')}</ul>
    <p class="small soft">Use any name, any future month and any 3 digits. Do not enter a real card.</p></details>`;
}

/** The page on which the payer's bank requests an approval. */
export function bankPage(view: CheckoutView): string {
  const amount = escape(money(view.amountMinor, view.currency));
  return paymentPage(
    'Confirm with your bank',
    `<main class="narrow"><div class="card bank">
      <p class="small soft">Test Bank</p>
      <h1>Approve this payment?</h1>
      <p>This card payment needs your approval.</p>
      <dl class="lines">
        <div><dt>For</dt><dd>${escape(view.productName)}</dd></div>
        <div class="total"><dt>Amount</dt><dd>${amount}</dd></div>
      </dl>
      <form method="post" action="/pay/${escape(view.sessionRef)}/bank" class="actions">
        <button class="button" name="decision" value="approve">Approve</button>
        <button class="button plain" name="decision" value="decline">Decline</button>
      </form>
    </div></main>`,
  );
}

/** The page after a payment: what was paid, or why nothing was. */
export function receiptPage(view: ReceiptView): string {
  if (view.state === 'paid') return paidPage(view);
  if (view.state === 'processing') {
    return outcome(
      'wait',
      'Your bank is processing the payment',
      [
        `The payment of ${money(view.amountMinor, view.currency)} takes about 30 seconds. You don't need to wait here.`,
      ],
      `<a class="button" href="/pay/${escape(view.sessionRef)}/receipt">Check again</a>
      <a class="button plain" href="${linkTo(view.successUrl)}" rel="noreferrer">
        Continue to ${hostOf(view.successUrl)}</a>`,
    );
  }
  const cancelHref = linkTo(view.cancelUrl);
  const back = `<a class="button" href="${cancelHref}" rel="noreferrer">Back to ${hostOf(view.cancelUrl)}</a>`;
  return view.state === 'failed'
    ? outcome('bad', 'The payment failed', ['Your bank declined it. You were not charged.'], back)
    : outcome('bad', 'This page has expired', ['You were not charged. Please start again.'], back);
}

function paidPage(view: ReceiptView): string {
  const { payments, subscription } = view;
  const paid = payments.at(-1);
  const amount = (minor: number) => escape(money(minor, view.currency));
  const rows = payments.map(
    (payment) => `<div><dt>${payment.number}<br><span class="small">${dateText(payment.paidAt)}</span></dt>
      <dd>${amount(payment.amountMinor)}${notes(payment, amount)}</dd></div>`,
  );
  return paymentPage(
    `Receipt ${paid?.number ?? ''}`,
    `<main class="narrow"><div class="card">
      ${badge('good')}
      <h1>Thank you: ${amount(view.amountMinor)} paid</h1>
      <p class="soft">This is a test. No money was moved.</p>
      <dl class="lines">
        <div><dt>For</dt><dd>${escape(subscription?.productName ?? view.productName)}</dd></div>
        <div><dt>Bought by</dt><dd>${escape(view.email)}</dd></div>
        ${subscription ? `<div><dt>Subscription</dt><dd>${subscriptionText(view)}</dd></div>` : ''}
        ${rows.join('')}
      </dl>
      <div class="actions"><a class="button" href="${linkTo(view.successUrl)}" rel="noreferrer">
        Continue to ${hostOf(view.successUrl)}</a></div>
    </div>${tools(view)}</main>`,
  );
}

type Payment = ReceiptView['payments'][number];

const DISPUTES = { open: 'Disputed', won: 'Dispute won', lost: 'Lost in a dispute' } as const;

function notes({ refundedMinor, dispute }: Payment, amount: (minor: number) => string): string {
  const labels = [
    ...(refundedMinor > 0 ? [`${amount(refundedMinor)} refunded`] : []),
    ...(dispute ? [DISPUTES[dispute]] : []),
  ];
  return labels.map((each) => `<br><span class="small soft">${each}</span>`).join('');
}

function subscriptionText({ subscription, currency }: ReceiptView): string {
  const { state, periodEnd, cancelAtPeriodEnd, amountMinor, recurring } = subscription!;
  if (state === 'ended') return 'has ended';
  if (state === 'past_due') return 'the last payment failed and will be retried';
  const day = dayText(periodEnd);
  if (cancelAtPeriodEnd) return `ends on ${day}`;
  return `${escape(money(amountMinor, currency))} ${PERIODS[recurring].each}, next on ${day}`;
}

const TOOLS_FOR = 3;

/** Controls that simulate what may happen to a purchase. */
function tools(view: ReceiptView): string {
  const button = (tool: string, text: string, paymentRef = '') =>
    `<button class="button plain slim" name="tool" value="${tool}:${escape(paymentRef)}">${text}</button>`;
  const form = (inner: string) =>
    `<form method="post" action="/pay/${escape(view.sessionRef)}/tools">${inner}</form>`;
  const latest = view.payments.slice(0, TOOLS_FOR);
  const sections = latest.flatMap(({ paymentRef, number, dispute, amountMinor, refundedMinor }) => {
    if (dispute === 'open') {
      const decisions =
        button('dispute_won', 'Decide for the seller', paymentRef) +
        button('dispute_lost', 'Decide for the payer', paymentRef);
      return [
        `<section><p>Payment ${number} is disputed. As the payer’s bank:</p>${form(decisions)}</section>`,
      ];
    }
    if (dispute !== null || refundedMinor === amountMinor) return [];
    return [
      `<section><p>Payment ${number}</p>${form(button('dispute', 'Dispute it as the payer', paymentRef))}</section>`,
    ];
  });
  const { subscription } = view;
  if (subscription && subscription.state !== 'ended') {
    const [does, toggle] = subscription.cardPays
      ? ['Renewals succeed.', button('renewals_fail', 'Make renewals fail')]
      : ['Renewals fail.', button('renewals_pay', 'Make renewals succeed')];
    sections.push(`<section><p>${does}</p>${form(toggle)}</section>`);
  }
  if (sections.length === 0) return '';
  return `<div class="tools"><h2>Test tools</h2>
    <p class="small soft">Simulate what may happen to a real payment later.</p>${sections.join('')}</div>`;
}

/** A page with one message. @param actions HTML */
function outcome(kind: 'wait' | 'bad', title: string, lines: readonly string[], actions: string): string {
  const text = lines.map((line) => `<p class="soft">${escape(line)}</p>`).join('');
  return paymentPage(
    title,
    `<main class="narrow"><div class="card">${badge(kind)}<h1>${escape(title)}</h1>${text}
      ${actions === '' ? '' : `<div class="actions">${actions}</div>`}</div></main>`,
  );
}

/** A page that says why a request was refused. */
export function refusalPage(title: string, line: string): string {
  return outcome('bad', title, [line], '');
}
