import type { Knex } from 'knex';
import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Random } from '../../platform/random.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { clientFault } from './client-state.ts';
import * as store from './client-store.ts';
import type { Records } from './records.ts';
import type { RegisteredClients } from './registered-clients.ts';
import { API_SCOPES, knownScopes, type ClientScope } from './scope-state.ts';

export type { ClientScope } from './scope-state.ts';

const UNUSED_MS = 90 * 24 * 60 * 60 * 1000;
const BATCH_SIZE = 1000;

export type GrantType =
  | 'authorization_code'
  | 'refresh_token'
  | 'client_credentials'
  | 'urn:ietf:params:oauth:grant-type:device_code'
  | 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** The metadata of a client (RFC 7591) by the names that are used here. */
export interface ClientMetadata {
  readonly name: string;
  readonly applicationType: 'web' | 'native';
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly grantTypes: readonly GrantType[];
  /** The scopes that the client may request. */
  readonly scopes: readonly ClientScope[];
  readonly tokenEndpointAuthMethod: 'client_secret_basic' | 'client_secret_post' | 'none';
}

export interface OAuthClient extends ClientMetadata {
  readonly clientId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Clients of the authorization server that developers have registered. */
export interface OAuthClients {
  /**
   * @param held the scopes of the caller's token
   * @returns the client with its secret, which is shown once; a public one has none
   * @throws ApiError INSUFFICIENT_SCOPE, VALIDATION_FAILED
   */
  create(
    actor: Actor,
    held: readonly string[],
    metadata: ClientMetadata,
  ): Promise<{ readonly client: OAuthClient; readonly secret: string | undefined }>;
  list(developerId: string, page: PageRequest): Promise<Page<OAuthClient>>;
  /** @throws ApiError CLIENT_NOT_FOUND */
  get(developerId: string, clientId: string): Promise<OAuthClient>;
  /** @throws ApiError CLIENT_NOT_FOUND, INSUFFICIENT_SCOPE, VALIDATION_FAILED */
  update(
    actor: Actor,
    held: readonly string[],
    clientId: string,
    changes: {
      readonly [Name in 'name' | 'redirectUris' | 'postLogoutRedirectUris' | 'scopes']?:
        ClientMetadata[Name] | undefined;
    },
  ): Promise<OAuthClient>;
  /** Deletes a client with its authorizations and tokens. @throws ApiError CLIENT_NOT_FOUND */
  delete(actor: Actor, clientId: string): Promise<void>;
  /** Deletes every client of a developer. */
  deleteAll(actor: Actor): Promise<void>;
  /** @throws ApiError CLIENT_NOT_FOUND, INSUFFICIENT_SCOPE; VALIDATION_FAILED for a public client */
  rotateSecret(actor: Actor, held: readonly string[], clientId: string): Promise<string>;
  /** Replaces all secrets by unknown ones, until their developers rotate them. @returns how many */
  replaceSecrets(trx: Knex.Transaction): Promise<number>;
  /** Seals secrets again under the current master key. @returns how many it found */
  reseal(): Promise<number>;
  /** Deletes self-registered clients that have been unused for 90 days, one batch per call. @returns how many */
  clearUnused(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly records: Pick<Records, 'revokeClient' | 'reseal'>;
  readonly registeredClients: RegisteredClients;
  readonly authorizationServer: Pick<AuthorizationServer, 'clientFault'>;
  readonly apiTokens: Pick<ApiTokens, 'lockMakerForShare'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createOAuthClients(deps: Dependencies): OAuthClients {
  const { knex, records, registeredClients, authorizationServer, apiTokens, audit, clock, random, newId } =
    deps;
  const newSecret = () => random.bytes(32).toString('base64url');

  const required = (row: store.OAuthClientRow | undefined): store.OAuthClientRow => {
    if (!row) throw new ApiError('CLIENT_NOT_FOUND');
    return row;
  };

  /** A client's secret and its codes give access to its scopes, so the caller must have them as well. */
  function assertHeld(held: readonly string[], scopes: readonly string[]): void {
    const missing = scopes.filter(
      (scope) => API_SCOPES.some((own) => own === scope) && !held.includes(scope),
    );
    if (missing.length > 0) {
      throw new ApiError('INSUFFICIENT_SCOPE', {
        detail: `A client cannot have the scopes ${missing.join(' ')}, because the token does not have them.`,
        members: { scope: missing.join(' ') },
      });
    }
  }

  async function assertRegistrable(
    held: readonly string[],
    scopes: readonly string[],
    metadata: StoredMetadata,
    before?: StoredMetadata,
  ) {
    assertHeld(held, scopes);
    const fault = clientFault(metadata, before) ?? (await authorizationServer.clientFault({ ...metadata }));
    if (fault) throw invalidMember(`/${fault.member}`, fault.detail);
  }

  async function end(trx: Knex.Transaction, actor: Actor, clientId: string): Promise<void> {
    await store.deleteClient(trx, clientId);
    await records.revokeClient(trx, clientId);
    await audit.record(trx, actor, { action: 'oauth_client.deleted', target: clientId });
  }

  return {
    async create(actor, held, wanted) {
      const metadata = toStored(wanted);
      await assertRegistrable(held, wanted.scopes, metadata);
      const clientId = newId('cli');
      const secret = wanted.tokenEndpointAuthMethod === 'none' ? undefined : newSecret();
      const now = clock.now();
      const row: store.OAuthClientRow = {
        client_id: clientId,
        developer_id: actor.developerId,
        name: wanted.name,
        metadata: { ...metadata },
        secret_sealed: secret === undefined ? null : registeredClients.seal(clientId, secret),
        created_at: now,
        updated_at: now,
        used_at: null,
      };
      await knex.transaction(async (trx) => {
        await apiTokens.lockMakerForShare(trx, actor);
        await store.insertClient(trx, row);
        await audit.record(trx, actor, {
          action: 'oauth_client.created',
          target: clientId,
          data: { name: wanted.name, grant_types: wanted.grantTypes, scopes: wanted.scopes },
        });
      });
      return { client: toClient(row), secret };
    },

    async list(developerId, request) {
      const page = await readPage(
        request,
        'cli',
        (row: store.OAuthClientRow) => row.client_id,
        (range) => store.listClients(knex, developerId, range),
      );
      return { data: page.data.map(toClient), nextCursor: page.nextCursor };
    },

    async get(developerId, clientId) {
      const row = required(await store.findClient(knex, clientId));
      return toClient(required(row.developer_id === developerId ? row : undefined));
    },

    async update(actor, held, clientId, changes) {
      return knex.transaction(async (trx) => {
        const row = required(await store.lockClientForUpdate(trx, actor.developerId, clientId));
        const before = toClient(row);
        const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
        const after: OAuthClient = { ...before, ...given, updatedAt: clock.now() };
        const metadata = toStored(after);
        const added = changes.redirectUris ? after.scopes : (changes.scopes ?? []);
        await assertRegistrable(held, added, metadata, toStored(before));
        const changed = {
          name: after.name,
          metadata: { ...row.metadata, ...metadata },
          updated_at: after.updatedAt,
        };
        await store.updateClient(trx, clientId, changed);
        const data = { changed: Object.keys(given).map(wireName) };
        await audit.record(trx, actor, { action: 'oauth_client.updated', target: clientId, data });
        return after;
      });
    },

    delete: (actor, clientId) =>
      knex.transaction(async (trx) => {
        required(await store.lockClientForUpdate(trx, actor.developerId, clientId));
        await end(trx, actor, clientId);
      }),

    deleteAll: (actor) =>
      knex.transaction(async (trx) => {
        const clientIds = await store.lockClientsForUpdate(trx, actor.developerId);
        for (const clientId of clientIds) await end(trx, actor, clientId);
      }),

    async rotateSecret(actor, held, clientId) {
      return knex.transaction(async (trx) => {
        const row = required(await store.lockClientForUpdate(trx, actor.developerId, clientId));
        assertHeld(held, toClient(row).scopes);
        if (row.secret_sealed === null) {
          throw new ApiError('VALIDATION_FAILED', { detail: 'A public client has no secret.' });
        }
        const secret = newSecret();
        await store.updateClient(trx, clientId, {
          secret_sealed: registeredClients.seal(clientId, secret),
          updated_at: clock.now(),
        });
        await audit.record(trx, actor, { action: 'oauth_client.secret_rotated', target: clientId });
        return secret;
      });
    },

    async replaceSecrets(trx) {
      const clientIds = await store.listConfidentialClientIds(trx);
      for (const clientId of clientIds) {
        const secret_sealed = registeredClients.seal(clientId, newSecret());
        await store.updateClient(trx, clientId, { secret_sealed });
      }
      return clientIds.length;
    },

    reseal: async () => (await registeredClients.reseal()) + (await records.reseal()),

    clearUnused() {
      const usedBefore = new Date(clock.now().getTime() - UNUSED_MS);
      return store.clearUnusedClients(knex, usedBefore, BATCH_SIZE);
    },
  };
}

/** The metadata by the names of RFC 7591. */
interface StoredMetadata {
  readonly application_type: ClientMetadata['applicationType'];
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
  readonly grant_types: readonly GrantType[];
  readonly response_types: readonly string[];
  readonly scope: string;
  readonly token_endpoint_auth_method: ClientMetadata['tokenEndpointAuthMethod'];
}

function toStored(metadata: ClientMetadata): StoredMetadata {
  return {
    application_type: metadata.applicationType,
    redirect_uris: metadata.redirectUris,
    post_logout_redirect_uris: metadata.postLogoutRedirectUris,
    grant_types: metadata.grantTypes,
    response_types: metadata.grantTypes.includes('authorization_code') ? ['code'] : [],
    scope: metadata.scopes.join(' '),
    token_endpoint_auth_method: metadata.tokenEndpointAuthMethod,
  };
}

function toClient(row: store.OAuthClientRow): OAuthClient {
  const metadata = row.metadata as unknown as StoredMetadata;
  return {
    clientId: row.client_id,
    name: row.name,
    applicationType: metadata.application_type,
    redirectUris: metadata.redirect_uris,
    postLogoutRedirectUris: metadata.post_logout_redirect_uris,
    grantTypes: metadata.grant_types,
    scopes: knownScopes(metadata.scope),
    tokenEndpointAuthMethod: metadata.token_endpoint_auth_method,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The name of a member in the API. */
function wireName(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
