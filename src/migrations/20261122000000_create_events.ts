import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table events (
  event_id text collate "C" primary key,
  app_id text collate "C" not null,
  type text collate "C" not null,
  user_id text collate "C",
  session_digest bytea,
  data jsonb not null,
  created_at timestamptz not null,
  sequence bigint generated always as identity,
  position bigint
);
create index events_unnumbered on events (sequence) where position is null;
create unique index events_position on events (position) where position is not null;
create index events_app on events (app_id, position) where position is not null;
create index events_created_at on events (created_at);
comment on table events is 'What has changed: each row is written in the transaction of its change (outbox)';
comment on column events.session_digest is 'SHA-256 of the session id, where the event is about one session';
comment on column events.sequence is 'The order of writing: for one subject that is the order of the changes';
comment on column events.position is 'The order of publication, without gaps; null until the relay has given it';

create table relay_positions (
  name text collate "C" primary key,
  position bigint not null
);
insert into relay_positions (name, position) values ('log', 0), ('broker', 0);
comment on table relay_positions is
  'How far events are numbered and published; the relay locks the row while it works';

create function announce_events() returns trigger language plpgsql as $$
begin
  perform pg_notify('latchkey_outbox', '');
  return null;
end $$;
create trigger events_announced after insert on events for each statement execute function announce_events();

create table audit_log (
  audit_id text collate "C" not null,
  developer_id text collate "C" not null,
  app_id text collate "C",
  actor_kind text not null,
  actor_id text collate "C" not null,
  address text not null,
  action text collate "C" not null,
  target text collate "C",
  data jsonb not null,
  created_at timestamptz not null,
  primary key (developer_id, audit_id)
);
create index audit_log_app on audit_log (developer_id, app_id, audit_id) where app_id is not null;
create index audit_log_target on audit_log (developer_id, target, audit_id) where target is not null;
create index audit_log_action on audit_log (developer_id, action, audit_id);
create index audit_log_actor on audit_log (developer_id, actor_id, audit_id);
create index audit_log_address on audit_log (developer_id, address, audit_id);
comment on table audit_log is 'Who did what from where. Rows are never changed';
comment on column audit_log.address is 'In canonical form';
comment on column audit_log.target is 'The id of what it was done to';

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed', tg_table_name;
end $$;
create trigger audit_log_immutable before update or delete on audit_log
  for each row execute function refuse_change();
create trigger audit_log_not_truncated before truncate on audit_log
  for each statement execute function refuse_change();
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop table audit_log, relay_positions, events;
drop function refuse_change();
drop function announce_events()`);
}
