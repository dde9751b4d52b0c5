import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table test_checkouts (
  session_ref text collate "C" primary key,
  reference text collate "C" not null unique,
  product_id text collate "C" not null,
  product_name text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  recurring text check (recurring in ('monthly', 'yearly')),
  customer_ref text collate "C" not null,
  email text not null,
  success_url text not null,
  cancel_url text not null,
  state text not null default 'open'
    check (state in ('open', 'authenticating', 'processing', 'paid', 'failed', 'expired')),
  bank_pays boolean not null default true,
  due_at timestamptz,
  subscription_ref text collate "C",
  payment_ref text collate "C",
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((state in ('paid', 'failed', 'expired')) = (due_at is null)),
  check ((state = 'paid') = (payment_ref is not null))
);
create index test_checkouts_due on test_checkouts (due_at) where due_at is not null;
create index test_checkouts_subscription on test_checkouts (subscription_ref) where subscription_ref is not null;
comment on table test_checkouts is
  'Purchases at the embedded test processor: no money moves. Card numbers are never stored';
comment on column test_checkouts.session_ref is
  'Unpredictable, because it opens the page where the purchase is paid';
comment on column test_checkouts.reference is 'The name that the purchase has where it comes from';
comment on column test_checkouts.state is
  'authenticating: the bank authenticates the payer; processing: the bank has not decided yet';
comment on column test_checkouts.bank_pays is 'How the bank will decide, if it decides later';
comment on column test_checkouts.due_at is
  'When the state changes by itself: the checkout expires, or the bank decides';

create table test_subscriptions (
  subscription_ref text collate "C" primary key,
  session_ref text collate "C" not null references test_checkouts,
  reference text collate "C" not null,
  product_id text collate "C" not null,
  product_name text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  recurring text not null check (recurring in ('monthly', 'yearly')),
  customer_ref text collate "C" not null,
  card_pays boolean not null,
  state text not null check (state in ('active', 'past_due', 'ended')),
  anchor_at timestamptz not null,
  periods integer not null check (periods > 0),
  period_start timestamptz not null,
  period_end timestamptz not null check (period_end > period_start),
  cancel_at_period_end boolean not null default false,
  failed_at timestamptz,
  retries integer not null default 0,
  due_at timestamptz,
  as_of timestamptz not null,
  check ((state = 'ended') = (due_at is null)),
  check ((state = 'past_due') = (failed_at is not null))
);
create index test_subscriptions_due on test_subscriptions (due_at) where due_at is not null;
comment on table test_subscriptions is 'Subscriptions at the embedded test processor';
comment on column test_subscriptions.card_pays is 'Whether the card pays from the second time on';
comment on column test_subscriptions.anchor_at is 'The day of month that periods end on is that of this moment';
comment on column test_subscriptions.periods is 'How many periods after the anchor the present one ends';
comment on column test_subscriptions.failed_at is 'When the payment of the period failed first';
comment on column test_subscriptions.due_at is 'When the next payment is tried';
comment on column test_subscriptions.as_of is 'The last change';

create table test_payments (
  payment_ref text collate "C" primary key,
  sequence bigint generated always as identity,
  session_ref text collate "C" references test_checkouts,
  charge_key text collate "C" unique,
  token_digest bytea unique,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and amount_minor),
  dispute text check (dispute in ('open', 'won', 'lost')),
  dispute_as_of timestamptz,
  due_at timestamptz,
  paid_at timestamptz not null,
  check ((charge_key is null) = (token_digest is null)),
  check ((dispute is null) = (dispute_as_of is null))
);
create index test_payments_due on test_payments (due_at) where due_at is not null;
create index test_payments_session on test_payments (session_ref);
comment on table test_payments is 'What was paid at the embedded test processor';
comment on column test_payments.sequence is 'The number of the receipt';
comment on column test_payments.charge_key is 'Of a payment by a machine: it is made once';
comment on column test_payments.token_digest is 'SHA-256 of the token of a machine, which pays once';
comment on column test_payments.due_at is 'When the payer''s bank disputes it';

create table test_refunds (
  refund_key text collate "C" primary key,
  payment_ref text collate "C" not null references test_payments,
  amount_minor bigint not null check (amount_minor > 0),
  created_at timestamptz not null
);
comment on table test_refunds is 'Refunds of the embedded test processor';
comment on column test_refunds.refund_key is 'The idempotency key of the refund: it is made once';

create table test_invoices (
  invoice_ref text collate "C" primary key,
  sequence bigint generated always as identity,
  subscription_ref text collate "C" not null references test_subscriptions,
  reason text not null check (reason in ('first', 'renewal', 'change')),
  state text not null check (state in ('paid', 'failed')),
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  payment_ref text collate "C" references test_payments,
  period_start timestamptz not null,
  period_end timestamptz not null,
  created_at timestamptz not null
);
create index test_invoices_subscription on test_invoices (subscription_ref, sequence);
comment on table test_invoices is 'Bills of subscriptions at the embedded test processor';
comment on column test_invoices.state is 'A failed one is paid later, or never';
comment on column test_invoices.payment_ref is 'Null when a credit covers it, or it is not paid';

create table test_credits (
  customer_ref text collate "C" not null,
  currency text not null,
  amount_minor bigint not null check (amount_minor >= 0),
  primary key (customer_ref, currency)
);
comment on table test_credits is 'Credit of customers at the embedded test processor, which pays later bills';

create table test_notices (
  notice_id text collate "C" primary key,
  sequence bigint generated always as identity,
  body text not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  created_at timestamptz not null
);
create index test_notices_due on test_notices (next_attempt_at, sequence);
comment on table test_notices is 'Events of the embedded test processor that were not delivered yet';
comment on column test_notices.next_attempt_at is
  'While an event is being sent: when another process retries it, if there is no result until then';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table test_notices, test_credits, test_invoices, test_refunds, test_payments,
    test_subscriptions, test_checkouts`);
}
