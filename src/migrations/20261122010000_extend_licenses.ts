import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table licenses add ban_reason text, add status_before_ban text;
comment on column licenses.ban_reason is 'Why it is banned, in the developer''s own words';
comment on column licenses.status_before_ban is
  'The status after the ban is lifted; null if the license is not banned, or was banned when imported';

do $$ begin
  create extension if not exists pg_trgm;
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise notice 'pg_trgm cannot be used: a search in notes reads all licenses of an application';
end $$`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table licenses drop ban_reason, drop status_before_ban');
}
