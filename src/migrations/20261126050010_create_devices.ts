import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Two statements each: existing applications keep what their programs expect.
  await knex.raw(`
create table devices (
  app_id text collate "C" not null references applications on delete cascade,
  device_id text collate "C" not null,
  alg text not null check (alg in ('EdDSA', 'ES256')),
  public_key bytea not null,
  hwid_digest bytea not null,
  created_at timestamptz not null,
  last_login_at timestamptz,
  primary key (app_id, device_id)
);
create index devices_last_login on devices (last_login_at);
create index devices_without_login on devices (created_at) where last_login_at is null;
comment on table devices is 'Devices that sign their requests';
comment on column devices.device_id is 'dev_ and the JWK thumbprint (RFC 7638) of the public key';
comment on column devices.public_key is '32 bytes of an Ed25519 key, or x and y of a P-256 key';
comment on column devices.hwid_digest is 'The machine, as in sessions';
comment on column devices.last_login_at is 'The last login or renewal of a session';

alter table sessions add device_id text collate "C";
comment on column sessions.device_id is
  'The device whose signature every use of the session requires; null for a session that is not bound to one';

alter table applications add secretless_clients boolean not null default false;
alter table applications alter secretless_clients set default true;
alter table applications add require_client_trust boolean not null default false;
comment on column applications.secretless_clients is
  'Whether programs that do not know the secret may register and log in users and redeem keys';
comment on column applications.require_client_trust is
  'Whether requests must request signed responses, and sessions must be bound to a device'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
alter table applications drop secretless_clients, drop require_client_trust;
alter table sessions drop device_id;
drop table devices`);
}
