import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table plans
  add kind text not null default 'subscription' check (kind in ('subscription', 'license_quota', 'reseller_balance')),
  add max_licenses bigint check (max_licenses >= 0),
  add units bigint check (units > 0),
  add created_at timestamptz not null default '2026-11-21T00:00:00Z',
  add updated_at timestamptz not null default '2026-11-21T00:00:00Z',
  add archived_at timestamptz,
  add constraint plans_units check ((kind = 'subscription') = (units is null)),
  add constraint plans_packs_once check (kind = 'subscription' or period = 'lifetime');
create unique index plans_name on plans (name, period) where archived_at is null;
comment on column plans.kind is 'A subscription is a plan to be on; the others are bought on top of one';
comment on column plans.max_licenses is 'How many license keys can be generated on this plan; null for no limit';
comment on column plans.units is 'What a pack adds: licenses, or minor units of the currency';
comment on column plans.archived_at is 'No longer sold; developers who have the plan keep it';

alter table developers
  add licenses_generated bigint not null default 0 check (licenses_generated >= 0),
  add license_packs bigint not null default 0 check (license_packs >= 0),
  add plan_lapsed_at timestamptz,
  add customer_ref text;
comment on column developers.licenses_generated is
  'License keys generated while the plan limited them: counted here, so that the quota holds under '
  'concurrency';
comment on column developers.license_packs is 'Licenses of all packs: the sum of license_quota_entries';
comment on column developers.plan_lapsed_at is 'When the paid plan ended, until there is another one';
comment on column developers.customer_ref is 'The payment processor''s id of the developer';

alter table applications add grace_ends_at timestamptz;
comment on column applications.grace_ends_at is
  'Set when the users exceed the plan after a change of it: logins are refused from this time';

create table checkouts (
  checkout_id text collate "C" primary key,
  developer_id text collate "C" not null references developers,
  plan_id text collate "C" not null references plans,
  reseller_id text collate "C" references resellers,
  processor text not null,
  session_ref text collate "C",
  url text,
  status text not null default 'open' check (status in ('open', 'processing', 'paid', 'failed', 'expired')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  units bigint,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  looked_up_at timestamptz not null,
  check ((status = 'paid') = (paid_at is not null))
);
create index checkouts_developer on checkouts (developer_id, checkout_id);
create index checkouts_open on checkouts (looked_up_at) where status in ('open', 'processing');
comment on table checkouts is 'Amounts that were requested, to be compared with payments';
comment on column checkouts.session_ref is 'The payment processor''s name of it; null until the page was opened';
comment on column checkouts.units is 'What the pack adds, as it was when it was sold';
comment on column checkouts.looked_up_at is
  'When the processor was last queried; initially the time of creation';

create table plan_subscriptions (
  subscription_id text collate "C" primary key,
  developer_id text collate "C" not null references developers,
  checkout_id text collate "C" not null references checkouts,
  plan_id text collate "C" not null references plans,
  processor text not null,
  subscription_ref text collate "C",
  state text not null check (state in ('pending', 'active', 'past_due', 'ended')),
  paid boolean not null default false,
  reversed boolean not null default false,
  period_end timestamptz,
  cancel_at_period_end boolean not null default false,
  as_of timestamptz,
  end_wanted boolean not null default false,
  change_asked_at timestamptz,
  looked_up_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint plan_subscriptions_ref unique (processor, subscription_ref),
  constraint plan_subscriptions_checkout unique (checkout_id)
);
create index plan_subscriptions_developer on plan_subscriptions (developer_id, subscription_id);
create index plan_subscriptions_overdue on plan_subscriptions (period_end)
  where state in ('pending', 'active', 'past_due') and period_end is not null;
create index plan_subscriptions_end_wanted on plan_subscriptions (subscription_id) where end_wanted;
comment on table plan_subscriptions is
  'Plans that developers have paid for: by the period, or once for an unlimited time';
comment on column plan_subscriptions.subscription_ref is
  'The payment processor''s id of it; null for a single payment';
comment on column plan_subscriptions.paid is 'Whether the requested amount has been paid';
comment on column plan_subscriptions.reversed is
  'Whether the payment of the current period was refunded or disputed';
comment on column plan_subscriptions.period_end is 'Of the period that is paid; null is never';
comment on column plan_subscriptions.as_of is
  'By the processor''s clock: earlier states arrive too late and are ignored';
comment on column plan_subscriptions.end_wanted is 'Whether the processor must still be instructed to end it';
comment on column plan_subscriptions.change_asked_at is
  'When the processor was last requested to move it to another plan, until that is confirmed';

create table invoices (
  invoice_id text collate "C" primary key,
  developer_id text collate "C" not null references developers,
  checkout_id text collate "C" not null references checkouts,
  plan_id text collate "C" not null references plans,
  subscription_id text collate "C" references plan_subscriptions,
  processor text not null,
  invoice_ref text collate "C" not null,
  payment_ref text collate "C",
  number text,
  reason text not null check (reason in ('once', 'first', 'renewal', 'change')),
  state text not null check (state in ('paid', 'failed')),
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  refunded_minor bigint not null default 0 check (refunded_minor >= 0),
  dispute text check (dispute in ('open', 'won', 'lost')),
  units bigint,
  units_granted bigint not null default 0 check (units_granted >= 0),
  ever_granted boolean not null default false,
  period_start timestamptz,
  period_end timestamptz,
  receipt_url text,
  created_at timestamptz not null,
  constraint invoices_ref unique (processor, invoice_ref)
);
create index invoices_developer on invoices (developer_id, invoice_id);
create index invoices_payment on invoices (processor, payment_ref) where payment_ref is not null;
create index invoices_subscription on invoices (subscription_id, period_end) where subscription_id is not null;
comment on table invoices is 'What was paid, or could not be';
comment on column invoices.units is 'What a pack adds when it is paid in full';
comment on column invoices.units_granted is 'What of it is with the developer or the reseller now';

create table license_quota_entries (
  entry_id text collate "C" primary key,
  developer_id text collate "C" not null references developers,
  sequence bigint generated always as identity,
  amount bigint not null check (amount <> 0),
  invoice_id text collate "C" not null references invoices,
  created_at timestamptz not null
);
create index license_quota_entries_developer on license_quota_entries (developer_id, sequence);
comment on table license_quota_entries is
  'Every change of a developer''s packs of licenses, in the transaction of the change. Rows are never '
  'changed';
create trigger license_quota_entries_immutable before update or delete on license_quota_entries
  for each row execute function refuse_change();
create trigger license_quota_entries_not_truncated before truncate on license_quota_entries
  for each statement execute function refuse_change();

create table payment_reversals (
  processor text not null,
  payment_ref text collate "C" not null,
  refunded_minor bigint not null default 0 check (refunded_minor >= 0),
  dispute text check (dispute in ('open', 'won', 'lost')),
  dispute_as_of timestamptz,
  primary key (processor, payment_ref)
);
comment on table payment_reversals is
  'Refunds and disputes of payments, whether the payment is known yet or not';

create table payment_notices (
  processor text not null,
  notice_id text collate "C" not null,
  type text not null,
  outcome text not null check (outcome in ('applied', 'refused')),
  detail text,
  received_at timestamptz not null,
  primary key (processor, notice_id)
);
create index payment_notices_received_at on payment_notices (received_at);
comment on table payment_notices is
  'Events of the payment processor that were processed: a repeated one changes nothing';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop table payment_notices, payment_reversals, license_quota_entries, invoices, plan_subscriptions, checkouts;
alter table applications drop grace_ends_at;
alter table developers drop licenses_generated, drop license_packs, drop plan_lapsed_at, drop customer_ref;
drop index plans_name;
alter table plans drop kind, drop max_licenses, drop units, drop created_at, drop updated_at, drop archived_at;
`);
}
