import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table machine_payments (
  challenge_id text collate "C" primary key,
  reference text collate "C" not null constraint machine_payments_reference unique,
  state text not null check (state in ('claimed', 'settled', 'declined')),
  amount bigint not null check (amount > 0),
  currency text not null,
  spt_digest bytea not null,
  payment_ref text,
  token_digest bytea constraint machine_payments_token unique,
  expires_at timestamptz,
  created_at timestamptz not null,
  check (state = 'settled' or token_digest is null)
);
create index machine_payments_expires_at on machine_payments (expires_at) where token_digest is not null;
create index machine_payments_created_at on machine_payments (created_at);
comment on table machine_payments is
  'What machines have paid, or tried to, with the token that each payment gave';
comment on column machine_payments.reference is 'Our reference, which the payer receives';
comment on column machine_payments.state is
  'claimed: may have been charged, and can be charged again with the same key and token';
comment on column machine_payments.amount is 'In base units of the currency: of USDC, millionths';
comment on column machine_payments.spt_digest is 'SHA-256 of the payment token that claimed the challenge';
comment on column machine_payments.payment_ref is 'The payment processor''s';
comment on column machine_payments.token_digest is 'SHA-256 of the bearer token; forgotten when it has expired';
comment on column machine_payments.expires_at is 'Of the token';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table machine_payments');
}
