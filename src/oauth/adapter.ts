import type { Knex } from 'knex';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Audit } from '../audit/audit.ts';
import type { BearerTokens } from '../bearer-tokens/bearer-tokens.ts';
import type { Developers } from '../developers/developers.ts';
import type { Limits } from '../limits/limits.ts';
import { addressBlock } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { tokenDigest } from '../tokens/tokens.ts';
import { exchanges } from './exchange.ts';
import { libraryNow } from './library-clock.ts';
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
  readonly limits: Pick<Limits, 'assertMayTry' | 'assertMayAsk' | 'countFailure'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** The library's errors that an adapter answers with. */
export interface AdapterErrors {
  readonly InvalidGrant: new (detail: string) => Error;
  readonly InvalidClientMetadata: new (description: string) => Error;
}

/** Who is asked about tokens by clients: resellers and agents that pay have nothing to do with them. */
const SHOWN_KINDS = ['developer', 'api_token', 'oauth_client', 'agent'];

/** Where the library keeps what it must remember. */
export function createAdapterFactory(deps: Dependencies, errors: AdapterErrors): (model: string) => Adapter {
  const { knex, records, registeredClients, accessTokens, bearerTokens, developers, limits, audit, clock } =
    deps;

  /** Ends a grant because the client asks for it, or because what is used once was used twice. */
  async function revokeGrant(grantId: string): Promise<void> {
    await knex.transaction(async (trx) => {
      const revoked = await records.revokeGrant(trx, grantId);
      if (!revoked) return;
      const { accountId, clientId } = revoked;
      const address = exchanges.getStore()?.address ?? '';
      const actor = { kind: 'oauth_client', id: clientId, developerId: accountId, address } as const;
      await audit.record(trx, actor, { action: 'authorization.revoked', target: grantId });
    });
  }

  /** A record of somebody who was signed out everywhere since is none. */
  async function whileSignedIn(payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    const developerId = payload && signedInBy(payload);
    if (developerId === undefined) return payload;
    const generation = Number(payload!['generation'] ?? 0);
    if (!(await developers.isSignedIn({ developerId, generation }))) return undefined;
    // What the library writes on behalf of this sign-in is over together with it.
    const exchange = exchanges.getStore();
    if (exchange) exchange.generation = generation;
    return payload;
  }

  const none = async () => undefined;

  const recordsOf = (model: string): Adapter => ({
    async upsert(id, payload, expiresIn) {
      if (model === 'Interaction' && payload['result'] === undefined) {
        await limits.assertMayAsk(['oauth', 'interaction'], exchanges.getStore()?.address ?? '');
      }
      await records.put(knex, model, id, payload, expiresIn);
    },
    find: (id) => records.find(model, { id }),
    findByUid: (uid) => records.find(model, { uid }),

    async findByUserCode(userCode) {
      const account = ['device_code', addressBlock(exchanges.getStore()?.address ?? '')];
      await limits.assertMayTry([account]);
      const found = await records.find(model, { userCode });
      if (!found) await limits.countFailure([account]);
      return found;
    },

    async consume(id) {
      if (await records.consume(model, id)) return;
      // Somebody else was faster with the same code or token.
      const grantId = (await records.find(model, { id }))?.grantId;
      if (grantId !== undefined) await revokeGrant(grantId);
      throw new errors.InvalidGrant('already used');
    },

    // With a grant goes all that was issued under it, whichever of the two the library asks for first.
    destroy: (id) => (model === 'Grant' ? revokeGrant(id) : records.destroy(model, id)),
    revokeByGrantId: revokeGrant,
  });

  /** Of records by which somebody is signed in. */
  const signInsOf = (model: string): Adapter => {
    const plain = recordsOf(model);
    return {
      ...plain,
      upsert(id, payload, expiresIn) {
        const generation = resultOf(payload)?.generation ?? exchanges.getStore()?.generation;
        return plain.upsert(id, { ...payload, generation } as AdapterPayload, expiresIn);
      },
      find: async (id) => whileSignedIn(await records.find(model, { id })),
      findByUid: async (uid) => whileSignedIn(await records.find(model, { uid })),
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

  /** Access tokens are looked up by what stands for them: the row of whichever part of the service has issued them. */
  const tokens: Adapter = {
    ...recordsOf('AccessToken'),
    upsert: none,
    async find(value) {
      const exchange = exchanges.getStore();
      if (!exchange) return undefined;
      const { presented } = exchange;
      const token = presented?.handle === value ? presented.token : value;
      const bearer = await bearerTokens.authenticate(token);
      if (!bearer || !SHOWN_KINDS.includes(bearer.kind)) return undefined;
      const digest = tokenDigest(token);
      const grantedScopes = (await accessTokens.find(digest))?.scopes ?? bearer.scopes;
      exchange.bearer = { ...bearer, grantedScopes };
      const shift = libraryNow() - clock.now().getTime();
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
    if (model === 'Session' || model === 'Interaction') return signInsOf(model);
    return model === 'ClientCredentials' ? { ...tokens, find: none } : recordsOf(model);
  };
}

/** What somebody has decided on a page that waits. */
function resultOf(payload: AdapterPayload) {
  return payload['result'] as
    { readonly login?: { readonly accountId: string }; readonly generation?: number } | undefined;
}

/** Who is signed in by a record: a browser's, or that of a page that waits in it. */
function signedInBy(payload: AdapterPayload): string | undefined {
  const session = payload['session'] as { readonly accountId?: string } | undefined;
  return resultOf(payload)?.login?.accountId ?? session?.accountId ?? payload.accountId;
}
