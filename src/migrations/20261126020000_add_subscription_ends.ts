import type { Knex } from 'knex';

/**
 * A trigger keeps the column right for every writer, also for a service of the previous version that runs at the same
 * time. It leaves rows alone whose end stays the same, so that no statement writes a user twice.
 */
const TRIGGER = `
create function note_subscription_ends() returns trigger language plpgsql as $$
begin
  update users u
  set subscription_ends_at = coalesce(
    (select max(s.ends_at) from subscriptions s where s.user_id = u.user_id), 'infinity'
  )
  where u.user_id = any (array(select user_id from touched))
    and u.subscription_ends_at <> coalesce(
      (select max(s.ends_at) from subscriptions s where s.user_id = u.user_id), 'infinity'
    );
  return null;
end $$;
create trigger subscriptions_inserted after insert on subscriptions
  referencing new table as touched for each statement execute function note_subscription_ends();
create trigger subscriptions_updated after update on subscriptions
  referencing new table as touched for each statement execute function note_subscription_ends();
create trigger subscriptions_deleted after delete on subscriptions
  referencing old table as touched for each statement execute function note_subscription_ends();
`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table users add subscription_ends_at timestamptz not null default 'infinity';
comment on column users.subscription_ends_at is
  'When the last period of the subscription ends, on the subscription clock of the application; infinity for a user '
  'who has never had one. A trigger on subscriptions maintains it';
${TRIGGER}`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop trigger subscriptions_inserted on subscriptions;
drop trigger subscriptions_updated on subscriptions;
drop trigger subscriptions_deleted on subscriptions;
drop function note_subscription_ends;
alter table users drop subscription_ends_at`);
}
