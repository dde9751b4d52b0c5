import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table resellers add deleted_at timestamptz;
comment on column resellers.deleted_at is
  'The reseller is deleted from this time; the row stays, because licenses and the ledger refer to it';

create table reseller_prices (
  reseller_id text collate "C" not null references resellers on delete cascade,
  app_id text collate "C" not null references applications on delete cascade,
  tier text not null,
  duration_days integer check (duration_days > 0),
  price_minor bigint not null check (price_minor >= 0)
);
create unique index reseller_prices_key on reseller_prices (reseller_id, app_id, tier, (coalesce(duration_days, 0)));
create index reseller_prices_app on reseller_prices (app_id);
comment on table reseller_prices is
  'The price of a key before the commission: a reseller can generate only what has a price';
comment on column reseller_prices.duration_days is 'Null is a lifetime';
comment on column reseller_prices.price_minor is 'In minor units of the currency of the reseller';

create table reseller_ledger (
  entry_id text collate "C" primary key,
  reseller_id text collate "C" not null references resellers,
  sequence bigint generated always as identity,
  kind text not null check (kind in ('credit', 'debit', 'generation', 'refund')),
  amount_minor bigint not null check (
    case kind when 'credit' then amount_minor > 0 when 'debit' then amount_minor < 0
      when 'generation' then amount_minor <= 0 else amount_minor >= 0 end),
  balance_minor bigint not null check (balance_minor >= 0),
  licenses integer not null default 0 check (licenses >= 0),
  app_id text collate "C",
  tier text,
  duration_days integer,
  reference text collate "C",
  note text,
  created_at timestamptz not null
);
create index reseller_ledger_reseller on reseller_ledger (reseller_id, sequence);
comment on table reseller_ledger is
  'Every change of a balance, in the transaction of the change. Rows are never changed';
comment on column reseller_ledger.sequence is
  'The order of writing: for one reseller that is the order of the changes';
comment on column reseller_ledger.amount_minor is
  'The change of the balance, in minor units of the currency of the reseller';
comment on column reseller_ledger.balance_minor is 'The balance after it: the sum of all amounts up to here';
comment on column reseller_ledger.licenses is 'The number of licenses that were paid for or refunded';
comment on column reseller_ledger.reference is
  'The license that was refunded, or the first one that was generated';
create trigger reseller_ledger_immutable before update or delete on reseller_ledger
  for each row execute function refuse_change();
create trigger reseller_ledger_not_truncated before truncate on reseller_ledger
  for each statement execute function refuse_change();

create table reseller_purchases (
  license_id text collate "C" primary key references licenses on delete cascade,
  cost_minor bigint not null check (cost_minor >= 0)
);
comment on table reseller_purchases is 'What the reseller paid for a license, and receives as a refund for it';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table reseller_purchases, reseller_ledger, reseller_prices;
    alter table resellers drop deleted_at`);
}
