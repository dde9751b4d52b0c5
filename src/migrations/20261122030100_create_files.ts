import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table blobs (
  blob_id text collate "C" primary key,
  clear_after timestamptz
);
create index blobs_clear_after on blobs (clear_after) where clear_after is not null;
comment on table blobs is 'Every content that the blob store has or may have';
comment on column blobs.clear_after is
  'When it can be removed; null while a file refers to it. An upload in progress postpones it';

create table files (
  file_id text collate "C" primary key,
  app_id text collate "C" not null references applications,
  name text collate "C" not null,
  version text,
  authenticated_only boolean not null,
  size bigint not null check (size >= 0),
  sha256 bytea not null check (length(sha256) = 32),
  blob_id text collate "C" not null references blobs,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint files_name unique (app_id, name),
  constraint files_blob unique (blob_id)
);
create index files_app on files (app_id, file_id);
comment on column files.name is 'Exactly as it was given; it names nothing in the blob store';
comment on column files.authenticated_only is 'Whether a download needs the token of a live session';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table files, blobs');
}
