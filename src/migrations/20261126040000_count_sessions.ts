import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table session_counts (
  app_id text collate "C" not null,
  expires_minute timestamptz not null,
  count bigint not null,
  primary key (app_id, expires_minute)
) with (fillfactor = 80);
create index session_counts_expires on session_counts (expires_minute);
comment on table session_counts is
  'How many sessions of an application that have not ended expire in a minute: the number is the sum of this row and '
  'of its rows in session_count_changes. Minutes of the past are deleted';
comment on column session_counts.expires_minute is 'The beginning of the minute';

create table session_count_changes (
  app_id text collate "C" not null,
  expires_minute timestamptz not null,
  change bigint not null
);
create index session_count_changes_app on session_count_changes (app_id, expires_minute);
comment on table session_count_changes is
  'Changes of session_counts, each in the transaction that begins or ends the session, so that no transactions wait '
  'for each other. Housekeeping adds them to session_counts';

create function count_session() returns trigger language plpgsql as $$
begin
  insert into session_count_changes (app_id, expires_minute, change) values
    (new.app_id, date_bin('1 minute', new.expires_at, 'epoch'), case tg_op when 'INSERT' then 1 else -1 end);
  return null;
end $$;

create function count_deleted_sessions() returns trigger language plpgsql as $$
begin
  insert into session_count_changes (app_id, expires_minute, change)
  select app_id, date_bin('1 minute', expires_at, 'epoch'), -count(*) from rows_before where ended_at is null
  group by 1, 2 order by 1, 2;
  return null;
end $$;

create trigger sessions_counted_on_insert after insert on sessions for each row
  when (new.ended_at is null) execute function count_session();
create trigger sessions_counted_on_end after update of ended_at on sessions for each row
  when (old.ended_at is null and new.ended_at is not null) execute function count_session();
create trigger sessions_counted_on_delete after delete on sessions referencing old table as rows_before
  for each statement execute function count_deleted_sessions();
`);
}

export async function down(knex: Knex): Promise<void> {
  for (const event of ['insert', 'end', 'delete'])
    await knex.raw(`drop trigger sessions_counted_on_${event} on sessions`);
  await knex.raw(`drop function count_session, count_deleted_sessions;
drop table session_counts, session_count_changes`);
}
