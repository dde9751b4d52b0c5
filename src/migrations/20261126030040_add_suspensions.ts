import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table developers add suspended_at timestamptz, add suspension_reason text;
comment on column developers.suspended_at is
  'Since when the administrator refuses all credentials of the developer; null for an active account';
comment on column developers.suspension_reason is 'What the administrator gave as the reason, if anything';

alter table applications add status_before_suspension text;
comment on column applications.status_before_suspension is
  'The status to return to, while the application is disabled because its developer is suspended';

alter table webhooks add suspended_at timestamptz;
comment on column webhooks.suspended_at is
  'Since when nothing is sent because the developer of the application is suspended'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
alter table webhooks drop suspended_at;
alter table applications drop status_before_suspension;
alter table developers drop suspended_at, drop suspension_reason`);
}
