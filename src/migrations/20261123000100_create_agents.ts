import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table agents (
  agent_id text collate "C" primary key,
  developer_id text collate "C" references developers,
  registration_type text not null
    check (registration_type in ('agent-provider', 'email-verification', 'anonymous', 'developer')),
  name text,
  issuer text,
  subject text,
  client_id text,
  email text,
  created_at timestamptz not null,
  claimed_at timestamptz,
  revoked_at timestamptz,
  check ((issuer is null) = (subject is null))
);
create index agents_developer on agents (developer_id, agent_id) where developer_id is not null;
create unique index agents_identity on agents (issuer, subject, client_id)
  where revoked_at is null and developer_id is not null and registration_type = 'agent-provider';
create index agents_unclaimed on agents (created_at) where developer_id is null;
create index agents_revoked on agents (revoked_at) where revoked_at is not null;
comment on table agents is 'Programs that act on their own, and the developers they act for';
comment on column agents.developer_id is 'The developer it acts for; null until it is claimed';
comment on column agents.issuer is 'Who has asserted its identity, and that of its user, as subject';
comment on column agents.client_id is 'What the issuer calls the agent';
comment on column agents.email is 'Of its user, as asserted or as typed';

create table agent_credentials (
  token_digest bytea primary key,
  agent_id text collate "C" not null references agents on delete cascade,
  credential_type text not null check (credential_type in ('bearer_token', 'jwt', 'sandbox_token', 'ephemeral_key')),
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index agent_credentials_agent on agent_credentials (agent_id);
create index agent_credentials_expires_at on agent_credentials (expires_at);
comment on table agent_credentials is 'What agents act with';
comment on column agent_credentials.token_digest is 'SHA-256 of the credential';

create table agent_claims (
  claim_digest bytea primary key,
  agent_id text collate "C" not null references agents on delete cascade,
  requested_credential_type text,
  scopes text[] not null,
  email text,
  developer_id text collate "C" references developers,
  view_digest bytea constraint agent_claims_view unique,
  attempt_id text,
  otp_digest bytea,
  otp_expires_at timestamptz,
  otp_failures integer not null default 0,
  mails integer not null default 0,
  mailed_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  completed_at timestamptz,
  rejected_at timestamptz
);
create index agent_claims_agent on agent_claims (agent_id);
create index agent_claims_expires_at on agent_claims (expires_at);
comment on table agent_claims is 'Ceremonies by which a developer claims an agent';
comment on column agent_claims.claim_digest is 'SHA-256 of the claim token, which the agent holds';
comment on column agent_claims.scopes is 'What the agent may do once it is claimed';
comment on column agent_claims.developer_id is
  'Who has confirmed it on the page, where the account was there before';
comment on column agent_claims.view_digest is 'SHA-256 of the token in the mailed link';
comment on column agent_claims.otp_digest is 'HMAC of the code that the page has shown';

create table agent_delegations (
  issuer text not null,
  subject text not null,
  developer_id text collate "C" not null references developers,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index agent_delegations_developer on agent_delegations (developer_id);
comment on table agent_delegations is 'Which developer a subject of a trusted issuer is';

create table used_assertions (
  digest bytea primary key,
  expires_at timestamptz not null
);
create index used_assertions_expires_at on used_assertions (expires_at);
comment on table used_assertions is
  'Assertions and security events that were taken, so that none is taken twice';
comment on column used_assertions.digest is 'SHA-256 of issuer and jti';

create table security_event_receivers (
  receiver_id text collate "C" primary key,
  developer_id text collate "C" not null references developers,
  url text not null,
  audience text not null,
  authorization_sealed bytea,
  slow boolean not null,
  created_at timestamptz not null,
  last_delivered_at timestamptz,
  last_failed_at timestamptz,
  last_fault text
);
create index security_event_receivers_developer on security_event_receivers (developer_id, receiver_id);
comment on table security_event_receivers is
  'Endpoints that receive Security Event Tokens (RFC 8935) when agents are revoked';
comment on column security_event_receivers.authorization_sealed is
  'The Authorization header to send, encrypted under a master key';
comment on column security_event_receivers.slow is
  'Whether its responses were slow or missing, or it has never responded';

create table security_event_deliveries (
  delivery_id text collate "C" primary key,
  receiver_id text collate "C" not null references security_event_receivers on delete cascade,
  sub_id jsonb not null,
  event jsonb not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null
);
create index security_event_deliveries_due on security_event_deliveries (receiver_id, next_attempt_at, delivery_id);
comment on table security_event_deliveries is
  'Security events to be sent: a row is deleted when its receiver has accepted it, or after the last '
  'attempt';
comment on column security_event_deliveries.delivery_id is 'The jti of each token of this delivery';
comment on column security_event_deliveries.event is 'The content of the security event';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop table security_event_deliveries, security_event_receivers, used_assertions, agent_delegations,
  agent_claims, agent_credentials, agents;
`);
}
