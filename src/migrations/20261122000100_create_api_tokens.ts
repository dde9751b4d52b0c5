import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table resellers (
  reseller_id text collate "C" primary key,
  developer_id text collate "C" not null references developers on delete cascade,
  name text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  balance_minor bigint not null default 0 check (balance_minor >= 0),
  margin_basis_points integer not null default 0 check (margin_basis_points between 0 and 10000),
  suspended_at timestamptz,
  created_at timestamptz not null
);
create index resellers_developer on resellers (developer_id, reseller_id);
comment on column resellers.balance_minor is 'In minor units of the currency; the sum of the ledger';
comment on column resellers.margin_basis_points is
  'Commission: the share of each price that the reseller keeps, in hundredths of a percent';

create table api_tokens (
  token_id text collate "C" primary key,
  token_digest bytea not null constraint api_tokens_digest unique,
  developer_id text collate "C" not null references developers on delete cascade,
  reseller_id text collate "C" references resellers on delete cascade,
  name text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz
);
create index api_tokens_developer on api_tokens (developer_id, token_id);
create index api_tokens_reseller on api_tokens (reseller_id, token_id) where reseller_id is not null;
alter table licenses add reseller_id text collate "C" references resellers on delete set null;
create index licenses_reseller on licenses (reseller_id, license_id) where reseller_id is not null;
comment on column licenses.reseller_id is 'The reseller who generated it; null for the developer''s own';

comment on column api_tokens.token_digest is 'SHA-256 of the bearer token';
comment on column api_tokens.reseller_id is 'Whose token it is; null for the developer''s own';
comment on column api_tokens.expires_at is 'Null is never';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table licenses drop reseller_id; drop table api_tokens, resellers');
}
