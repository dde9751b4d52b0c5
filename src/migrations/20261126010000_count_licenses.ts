import type { Knex } from 'knex';

/** The events of `licenses`, and the rows before and after each. */
const TRIGGERS = {
  insert: 'new table as rows_after',
  update: 'old table as rows_before new table as rows_after',
  delete: 'old table as rows_before',
};

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table license_counts (
  app_id text collate "C" not null,
  tier text not null,
  status text not null,
  count bigint not null,
  primary key (app_id, tier, status)
) with (fillfactor = 80);
comment on table license_counts is
  'How many licenses an application has: the number is the sum of this row and of its rows in license_count_changes';
comment on column license_counts.count is 'Never 0 after a transaction: such a row is deleted';

create table license_count_changes (
  app_id text collate "C" not null,
  tier text not null,
  status text not null,
  change bigint not null
);
create index license_count_changes_app on license_count_changes (app_id);
comment on table license_count_changes is
  'Changes of license_counts, each in the transaction that changes the licenses, so that no transactions wait for each '
  'other. Housekeeping adds them to license_counts';

create function count_licenses() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into license_count_changes (app_id, tier, status, change)
    select app_id, tier, status, count(*) from rows_after group by app_id, tier, status
    order by app_id, tier, status;
  elsif tg_op = 'DELETE' then
    insert into license_count_changes (app_id, tier, status, change)
    select app_id, tier, status, -count(*) from rows_before group by app_id, tier, status
    order by app_id, tier, status;
  else
    insert into license_count_changes (app_id, tier, status, change)
    select app_id, tier, status, sum(change) from (
      select app_id, tier, status, 1 as change from rows_after
      union all select app_id, tier, status, -1 from rows_before) changes
    group by app_id, tier, status having sum(change) <> 0 order by app_id, tier, status;
  end if;
  return null;
end $$;
`);
  for (const [event, rows] of Object.entries(TRIGGERS)) {
    await knex.raw(`create trigger licenses_counted_on_${event} after ${event} on licenses
      referencing ${rows} for each statement execute function count_licenses()`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const event of Object.keys(TRIGGERS)) {
    await knex.raw(`drop trigger licenses_counted_on_${event} on licenses`);
  }
  await knex.raw('drop function count_licenses; drop table license_counts, license_count_changes');
}
