import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table webhooks (
  webhook_id text collate "C" primary key,
  app_id text collate "C" not null references applications on delete cascade,
  url text not null,
  types text[] not null,
  description text,
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_expires_at timestamptz,
  enabled boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz,
  failing_since timestamptz,
  slow boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index webhooks_app on webhooks (app_id, webhook_id);
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;
create index webhooks_previous_secret on webhooks (previous_secret_expires_at)
  where previous_secret_expires_at is not null;
comment on table webhooks is 'Endpoints that receive the events of an application';
comment on column webhooks.types is 'Types of events; * is every type';
comment on column webhooks.secret_sealed is 'The signing secret under the master key';
comment on column webhooks.previous_secret_sealed is
  'The secret before the last rotation, which also signs until it expires';
comment on column webhooks.failing_since is 'The first failure after the last success';
comment on column webhooks.slow is
  'Whether its last responses were slow or missing: it then has fewer concurrent deliveries';
comment on column webhooks.deleted_at is 'Its deliveries are still to be cleared';

create table webhook_deliveries (
  delivery_id text collate "C" primary key,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  type text collate "C" not null,
  cause text not null check (cause in ('event', 'replay', 'test')),
  payload text not null,
  state text not null default 'pending' check (state in ('pending', 'succeeded', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  response_status integer,
  duration_ms integer,
  error text,
  attempt_log jsonb not null default '[]',
  created_at timestamptz not null,
  check ((state = 'pending') = (next_attempt_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, delivery_id)
  where state = 'pending';
create unique index webhook_deliveries_event on webhook_deliveries (webhook_id, event_id) where cause = 'event';
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, delivery_id) include (type);
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, delivery_id) where state = 'failed';
create index webhook_deliveries_created_at on webhook_deliveries (created_at);
comment on table webhook_deliveries is
  'What is sent to endpoints: one delivery for each event and endpoint, plus replays';
comment on column webhook_deliveries.payload is 'The body as it is signed and sent';
comment on column webhook_deliveries.attempt_log is 'Every attempt, with the first KiB of its response';

create index events_app_created_at on events (app_id, created_at, event_id) where position is not null;
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index events_app_created_at; drop table webhook_deliveries, webhooks');
}
