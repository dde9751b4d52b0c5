import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table licenses add ban_reason text;
comment on column licenses.ban_reason is 'Why it is banned, in the developer''s own words';

create index licenses_status on licenses (app_id, status, license_id);
create index licenses_tier on licenses (app_id, tier, status, license_id);
create index licenses_holder on licenses (app_id, redeemed_by) where redeemed_by is not null;

do $$ begin
  create extension if not exists pg_trgm;
  create index licenses_note on licenses using gin (note gin_trgm_ops) where note is not null;
exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
  raise notice 'pg_trgm cannot be used: a search in notes reads all licences of an application';
end $$`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop index if exists licenses_note;
drop index licenses_holder, licenses_tier, licenses_status;
alter table licenses drop ban_reason`);
}
