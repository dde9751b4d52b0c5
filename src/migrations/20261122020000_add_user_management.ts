import type { Knex } from 'knex';

/** Their index is there within a fraction of a second. */
const FEW_USERS = 100_000;

/**
 * Indexing the addresses of a million users would block registrations for seconds: on large tables it is left to
 * the operator (docs/operating.md), and until then a search reads all addresses.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table users
  add hwid_reset_at timestamptz,
  add password_version integer not null default 0;
comment on column users.hwid_reset_at is 'When the user last reset the machine of the account';
comment on column users.password_version is
  'Increases with each new password: a login that verified an older one opens no session';
comment on column users.password_hash is
  'Argon2id in PHC form, or of another system (bcrypt, Argon2) until the next login replaces it; null for '
  'a user without a password';

do $$ begin
  if (select count(*) from (select from users limit ${FEW_USERS + 1}) few) <= ${FEW_USERS} then
    create index users_email on users (app_id, (lower(email) collate "C")) where email is not null;
  end if;
end $$;
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop index if exists users_email;
alter table users drop hwid_reset_at, drop password_version`);
}
