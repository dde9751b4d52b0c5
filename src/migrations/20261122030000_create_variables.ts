import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table variables (
  variable_id text collate "C" primary key,
  app_id text collate "C" not null references applications on delete cascade,
  user_id text collate "C" references users on delete cascade,
  name text collate "C" not null,
  value text not null,
  bytes integer not null check (bytes between 0 and 65536),
  visibility text not null check (visibility in ('public', 'session')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index variables_of_applications on variables (app_id, name) where user_id is null;
create unique index variables_of_users on variables (user_id, name) where user_id is not null;
create index variables_app on variables (app_id, variable_id) where user_id is null;
create index variables_user on variables (user_id, variable_id) where user_id is not null;
create index variables_clearing on variables (app_id);
comment on column variables.user_id is 'Whose variable it is; null for the application''s own';
comment on column variables.bytes is 'The length of the value in UTF-8, so that sums need not read it';
comment on column variables.visibility is
  'public for all clients, session for live sessions; variables of a user are only for that user';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table variables');
}
