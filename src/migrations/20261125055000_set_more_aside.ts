import type { Knex } from 'knex';

const TABLES = ['security_event_deliveries', 'test_checkouts', 'test_subscriptions', 'test_payments'];

export async function up(knex: Knex): Promise<void> {
  for (const table of TABLES) {
    await knex.raw('alter table ?? add column fault text', [table]);
    await knex.raw(
      `comment on column ??.fault is 'Why nothing can be done with it: it is set aside until this is null again'`,
      [table],
    );
  }
  await knex.raw(`
create table failed_mails (
  mail_id text collate "C" primary key,
  kind text not null,
  recipient_digest bytea,
  message_sealed bytea,
  link_ends_at timestamptz,
  error text not null,
  failed_at timestamptz not null,
  retry boolean not null default false
);
create index failed_mails_failed on failed_mails (failed_at);
comment on table failed_mails is 'Mails that could not be sent, for 30 days';
comment on column failed_mails.recipient_digest is
  'SHA-256 of the recipient in lower case; null if the mail could not be opened';
comment on column failed_mails.message_sealed is
  'As in its job; null after the link in it has expired, or if that is unknown';
comment on column failed_mails.link_ends_at is 'Until when the link in it works; null when it holds none';
comment on column failed_mails.retry is 'Set by an operator who wants it sent again'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table failed_mails');
  for (const table of TABLES) await knex.raw('alter table ?? drop column fault', [table]);
}
