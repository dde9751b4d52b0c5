import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table session_ids (
  session_digest bytea primary key references sessions (session_digest) on delete cascade,
  session_id_sealed bytea not null
);
comment on table session_ids is 'Ids of sessions, where events go to a broker outside: its topics name them';
comment on column session_ids.session_id_sealed is 'AES-256-GCM under the master key';
update relay_positions set position = -1 where name = 'broker' and position = 0;
comment on column relay_positions.position is
  'The last event that was taken; -1 for a broker that never took any';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop table session_ids;
update relay_positions set position = 0 where name = 'broker' and position = -1`);
}
