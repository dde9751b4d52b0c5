import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table applications
  add previous_secret_sealed bytea,
  add previous_secret_until timestamptz,
  add constraint applications_previous_secret
    check ((previous_secret_sealed is null) = (previous_secret_until is null));
create index applications_previous_secret_until on applications (previous_secret_until)
  where previous_secret_until is not null;
comment on column applications.previous_secret_sealed is
  'The secret before the last rotation, sealed like the current one';
comment on column applications.previous_secret_until is 'Until when it is taken; null when it is not';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table applications drop previous_secret_sealed, drop previous_secret_until');
}
