import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table reseller_sales (
  reseller_id text collate "C" not null,
  day date not null,
  keys_sold bigint not null,
  charged_minor bigint not null,
  keys_refunded bigint not null,
  refunded_minor bigint not null,
  primary key (reseller_id, day)
) with (fillfactor = 80);
comment on table reseller_sales is
  'What a reseller bought and returned on a day: sums of reseller_ledger, each entry in its own transaction';
comment on column reseller_sales.day is 'In UTC';
comment on column reseller_sales.charged_minor is
  'Prices less the commission, in minor units of the currency of the reseller';
comment on column reseller_sales.refunded_minor is
  'Prices less the commission, in minor units of the currency of the reseller';

-- A commission is positive with a generation, and negative with a refund.
create function count_reseller_sale() returns trigger language plpgsql as $$
begin
  insert into reseller_sales as s (reseller_id, day, keys_sold, charged_minor, keys_refunded, refunded_minor)
  values (
    new.reseller_id, (new.created_at at time zone 'UTC')::date,
    case when new.kind = 'generation' then new.licenses else 0 end,
    case when new.kind = 'generation' or new.amount_minor > 0 and new.kind = 'commission'
      then -new.amount_minor else 0 end,
    case when new.kind = 'refund' then new.licenses else 0 end,
    case when new.kind = 'refund' or new.amount_minor < 0 and new.kind = 'commission' then new.amount_minor else 0 end)
  on conflict (reseller_id, day) do update set
    keys_sold = s.keys_sold + excluded.keys_sold,
    charged_minor = s.charged_minor + excluded.charged_minor,
    keys_refunded = s.keys_refunded + excluded.keys_refunded,
    refunded_minor = s.refunded_minor + excluded.refunded_minor;
  return null;
end $$;
create trigger reseller_ledger_counted after insert on reseller_ledger
  for each row when (new.kind in ('generation', 'refund', 'commission')) execute function count_reseller_sale();
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop trigger reseller_ledger_counted on reseller_ledger;
    drop function count_reseller_sale;
    drop table reseller_sales`);
}
