import type { Knex } from 'knex';
import type { AdapterPayload } from 'oidc-provider';
import { displayName } from '../../foundation/names/names.ts';
import type { Clock } from '../../platform/clock.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';
import * as store from './client-store.ts';

/** Registered clients as oidc-provider sees them. */
export interface RegisteredClients {
  /** The metadata (RFC 7591) with the secret. */
  find(clientId: string): Promise<AdapterPayload | undefined>;
  /** The owner and the name of a client; undefined if it does not exist. */
  owned(
    clientId: string,
  ): Promise<{ readonly developerId: string | null; readonly name: string } | undefined>;
  /** Adds a client that has registered itself. */
  addUnowned(clientId: string, metadata: AdapterPayload): Promise<void>;
  seal(clientId: string, secret: string): Buffer;
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/** Other text is not looked up: the database might not even accept it. */
export function isClientId(text: string): boolean {
  return /^cli_[0-9a-z]{26}$/.test(text);
}

export function createRegisteredClients({ knex, keyring, clock }: Dependencies): RegisteredClients {
  const seal = (clientId: string, secret: string) => keyring.seal(Buffer.from(secret), sealContext(clientId));

  async function row(clientId: string): Promise<store.OAuthClientRow | undefined> {
    return isClientId(clientId) ? store.findClient(knex, clientId) : undefined;
  }

  return {
    async find(clientId) {
      const found = await row(clientId);
      if (!found) return undefined;
      const { metadata, secret_sealed: sealed } = found;
      return {
        ...metadata,
        client_id: clientId,
        client_name: displayName(found.name, clientId),
        ...(sealed && { client_secret: keyring.open(sealed, sealContext(clientId)).toString() }),
      } as AdapterPayload;
    },

    async owned(clientId) {
      const found = await row(clientId);
      return found && { developerId: found.developer_id, name: displayName(found.name, clientId) };
    },

    async addUnowned(clientId, given) {
      const { client_id: _id, client_secret: secret, client_name: name, ...metadata } = given;
      const now = clock.now();
      await store.insertClient(knex, {
        client_id: clientId,
        developer_id: null,
        name: String(name ?? clientId),
        metadata,
        secret_sealed: typeof secret === 'string' ? seal(clientId, secret) : null,
        created_at: now,
        updated_at: now,
        used_at: null,
      });
    },

    seal,

    reseal: createResealer(knex, keyring, {
      table: 'oauth_clients',
      id: 'client_id',
      column: 'secret_sealed',
      context: sealContext,
    }),
  };
}

function sealContext(clientId: string): string {
  return `oauth-client:${clientId}`;
}
