import type { Knex } from 'knex';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Audit } from '../../foundation/audit/audit.ts';
import type { BearerTokens } from '../bearer-tokens/bearer-tokens.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Limits } from '../../foundation/limits/limits.ts';
import { addressBlock } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import { requestContext } from './request-context.ts';
import { providerNow } from './provider-clock.ts';
import type { Records } from './records.ts';
import type { RegisteredClients } from './registered-clients.ts';
import { selfRegistrationFault } from './self-registration.ts';

interface Dependencies {
  readonly knex: Knex;
  readonly records: Records;
  readonly registeredClients: RegisteredClients;
  readonly accessTokens: Pick<AccessTokens, 'find' | 'revoke'>;
  readonly bearerTokens: BearerTokens;
  readonly developers: Pick<Developers, 'isSignedIn'>;
  readonly limits: Pick<Limits, 'assertAttemptAllowed' | 'assertRequestAllowed' | 'countFailure'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** The errors of oidc-provider that an adapter throws. */
export interface AdapterErrors {
  readonly InvalidGrant: new (detail: string) => Error;
  readonly InvalidClientMetadata: new (description: string) => Error;
}

/** The kinds of tokens that introspection and revocation accept: not those of resellers and of payments. */
const INTROSPECTED_KINDS = ['developer', 'api_token', 'oauth_client', 'agent'];

/** The storage of oidc-provider. */
export function createAdapterFactory(deps: Dependencies, errors: AdapterErrors): (model: string) => Adapter {
  const { knex, records, registeredClients, accessTokens, bearerTokens, developers, limits, audit, clock } =
    deps;

  /** Revokes a grant at the client's request, or because a code or token was used twice. */
  async function revokeGrant(grantId: string): Promise<void> {
    await knex.transaction(async (trx) => {
      const revoked = await records.revokeGrant(trx, grantId);
      if (!revoked) return;
      const { accountId, clientId } = revoked;
      const address = requestContext.getStore()?.address ?? '';
      const actor = { kind: 'oauth_client', id: clientId, developerId: accountId, address } as const;
      await audit.record(trx, actor, { action: 'authorization.revoked', target: grantId });
    });
  }

  /** Ignores records of a developer who has signed out everywhere since. */
  async function ifStillSignedIn(payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    const developerId = payload && accountOf(payload);
    if (developerId === undefined) return payload;
    const generation = Number(payload!['generation'] ?? 0);
    if (!(await developers.isSignedIn({ developerId, generation }))) return undefined;
    // Records that oidc-provider writes for this sign-in end together with it.
    const context = requestContext.getStore();
    if (context) context.generation = generation;
    return payload;
  }

  const none = async () => undefined;

  const recordsOf = (model: string): Adapter => ({
    async upsert(id, payload, expiresIn) {
      if (model === 'Interaction' && payload['result'] === undefined) {
        await limits.assertRequestAllowed(['oauth', 'interaction'], requestContext.getStore()?.address ?? '');
      }
      await records.put(knex, model, id, payload, expiresIn);
    },
    find: (id) => records.find(model, { id }),
    findByUid: (uid) => records.find(model, { uid }),

    async findByUserCode(userCode) {
      const account = ['device_code', addressBlock(requestContext.getStore()?.address ?? '')];
      await limits.assertAttemptAllowed([account]);
      const found = await records.find(model, { userCode });
      if (!found) await limits.countFailure([account]);
      return found;
    },

    async consume(id) {
      if (await records.consume(model, id)) return;
      // Another request has used the same code or token.
      const grantId = (await records.find(model, { id }))?.grantId;
      if (grantId !== undefined) await revokeGrant(grantId);
      throw new errors.InvalidGrant('already used');
    },

    // Everything issued under a grant is revoked with it, regardless of what oidc-provider destroys first.
    destroy: (id) => (model === 'Grant' ? revokeGrant(id) : records.destroy(model, id)),
    revokeByGrantId: revokeGrant,
  });

  /** For records of signed-in users. */
  const signInRecordsOf = (model: string): Adapter => {
    const plain = recordsOf(model);
    return {
      ...plain,
      upsert(id, payload, expiresIn) {
        const generation = resultOf(payload)?.generation ?? requestContext.getStore()?.generation;
        return plain.upsert(id, { ...payload, generation } as AdapterPayload, expiresIn);
      },
      find: async (id) => ifStillSignedIn(await records.find(model, { id })),
      findByUid: async (uid) => ifStillSignedIn(await records.find(model, { uid })),
    };
  };

  const clients: Adapter = {
    ...recordsOf('Client'),
    find: (id) => registeredClients.find(id),
    async upsert(id, metadata) {
      const fault = selfRegistrationFault(metadata);
      if (fault) throw new errors.InvalidClientMetadata(`${fault.member} ${fault.detail}`);
      await registeredClients.addUnowned(id, metadata);
    },
    destroy: none,
  };

  /** Looks up access tokens of all kinds, including those that other parts of the service have issued. */
  const tokens: Adapter = {
    ...recordsOf('AccessToken'),
    upsert: none,
    async find(value) {
      const context = requestContext.getStore();
      if (!context) return undefined;
      const { presented } = context;
      const token = presented?.handle === value ? presented.token : value;
      const bearer = await bearerTokens.authenticate(token);
      if (!bearer || !INTROSPECTED_KINDS.includes(bearer.kind)) return undefined;
      const digest = tokenDigest(token);
      const grantedScopes = (await accessTokens.find(digest))?.scopes ?? bearer.scopes;
      context.bearer = { ...bearer, grantedScopes };
      const shift = providerNow() - clock.now().getTime();
      const { clientId, expiresAt } = bearer;
      return {
        kind: 'AccessToken',
        jti: digest.toString('base64url'),
        clientId,
        ...(expiresAt && { exp: Math.floor((expiresAt.getTime() + shift) / 1000) }),
      } as AdapterPayload;
    },
    async destroy(id) {
      await accessTokens.revoke(knex, { tokenDigest: Buffer.from(id, 'base64url') });
    },
  };

  return (model) => {
    if (model === 'Client') return clients;
    if (model === 'AccessToken') return tokens;
    if (model === 'Session' || model === 'Interaction') return signInRecordsOf(model);
    return model === 'ClientCredentials' ? { ...tokens, find: none } : recordsOf(model);
  };
}

/** What the user has decided on the page of an interaction. */
function resultOf(payload: AdapterPayload) {
  return payload['result'] as
    { readonly login?: { readonly accountId: string }; readonly generation?: number } | undefined;
}

/** The account of a session or an interaction. */
function accountOf(payload: AdapterPayload): string | undefined {
  const session = payload['session'] as { readonly accountId?: string } | undefined;
  return resultOf(payload)?.login?.accountId ?? session?.accountId ?? payload.accountId;
}
