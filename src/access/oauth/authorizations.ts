import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Records, StoredGrant } from './records.ts';
import type { RegisteredClients } from './registered-clients.ts';
import { knownScopes } from './scope-state.ts';

/** A grant: what a developer has allowed a client to do. */
export interface Authorization {
  readonly authorizationId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface Authorizations {
  list(developerId: string, page: PageRequest): Promise<Page<Authorization>>;
  /** Ends an authorization with all its tokens, on every node. @throws ApiError AUTHORIZATION_NOT_FOUND */
  revoke(actor: Actor, authorizationId: string): Promise<void>;
  /** Ends every authorization of a developer. */
  revokeAll(actor: Actor): Promise<void>;
  /** Deletes expired records of the authorization server, one batch per call. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly records: Records;
  readonly registeredClients: Pick<RegisteredClients, 'owned'>;
  readonly audit: Audit;
}

export function createAuthorizations({
  knex,
  records,
  registeredClients,
  audit,
}: Dependencies): Authorizations {
  async function toAuthorization(grant: StoredGrant): Promise<Authorization> {
    const { grantId, clientId, scope, createdAt, expiresAt } = grant;
    const name = (await registeredClients.owned(clientId))?.name;
    return {
      authorizationId: grantId,
      clientId,
      // The id of a client with a metadata document is the URL of the document.
      clientName: name ?? URL.parse(clientId)?.host ?? clientId,
      scopes: knownScopes(scope),
      createdAt,
      expiresAt,
    };
  }

  /** @returns whether the developer had it */
  async function end(trx: Knex.Transaction, actor: Actor, authorizationId: string): Promise<boolean> {
    const revoked = await records.revokeGrant(trx, authorizationId, actor.developerId);
    if (!revoked) return false;
    const data = { client_id: revoked.clientId };
    await audit.record(trx, actor, { action: 'authorization.revoked', target: authorizationId, data });
    return true;
  }

  return {
    async list(developerId, request) {
      const page = await readPage(
        request,
        'grt',
        (grant: StoredGrant) => grant.grantId,
        (range) => records.listGrants(developerId, range),
      );
      return { data: await Promise.all(page.data.map(toAuthorization)), nextCursor: page.nextCursor };
    },

    revoke: (actor, authorizationId) =>
      knex.transaction(async (trx) => {
        if (!(await end(trx, actor, authorizationId))) throw new ApiError('AUTHORIZATION_NOT_FOUND');
      }),

    revokeAll: (actor) =>
      knex.transaction(async (trx) => {
        const grantIds = await records.grantIdsOf(trx, actor.developerId);
        for (const grantId of grantIds) await end(trx, actor, grantId);
      }),

    clearExpired: () => records.clearExpired(),
  };
}
