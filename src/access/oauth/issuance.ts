import type { Knex } from 'knex';
import type { AccessTokens, NewAccessToken } from '../access-tokens/access-tokens.ts';
import type { Addresses } from '../../foundation/addresses/addresses.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { SigningKeys } from '../../foundation/signing-keys/signing-keys.ts';
import * as store from './client-store.ts';
import { isClientId } from './registered-clients.ts';
import type { Records } from './records.ts';

export const ACCESS_TOKEN_SECONDS = 3600;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The subject and the permissions of a new access token. */
export interface TokenRequest extends Omit<NewAccessToken, 'expiresAt'> {
  /** `sub`: the developer, or a client that acts on its own behalf. */
  readonly subject: string;
}

/** Signs access tokens (RFC 9068) and stores each: a token without a row is not valid. */
export interface Issuance {
  issue(request: TokenRequest): Promise<string>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly accessTokens: Pick<AccessTokens, 'register'>;
  readonly records: Pick<Records, 'lockGrantForShare'>;
  readonly signingKeys: Pick<SigningKeys, 'sign'>;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly random: Random;
}

export function createIssuance(deps: Dependencies): Issuance {
  const { knex, accessTokens, records, signingKeys, addresses, clock, random } = deps;

  /** What it is issued for may have been revoked since it was looked at: then the token is dead from the start. */
  async function lockSource(trx: Knex.Transaction, { grantId, clientId }: TokenRequest): Promise<boolean> {
    if (grantId !== null) return records.lockGrantForShare(trx, grantId);
    return (await store.lockClientForShare(trx, clientId)) !== undefined;
  }

  return {
    async issue(request) {
      const now = clock.now();
      const issuedAt = Math.floor(now.getTime() / 1000);
      const { subject, ...registered } = request;
      const token = await signingKeys.sign('at+jwt', {
        iss: addresses.issuer(),
        sub: subject,
        aud: request.audience,
        client_id: request.clientId,
        scope: request.scopes.join(' '),
        jti: random.bytes(16).toString('base64url'),
        iat: issuedAt,
        exp: issuedAt + ACCESS_TOKEN_SECONDS,
      });
      const expiresAt = new Date((issuedAt + ACCESS_TOKEN_SECONDS) * 1000);
      await knex.transaction(async (trx) => {
        if (await lockSource(trx, request))
          await accessTokens.register(trx, token, { ...registered, expiresAt });
      });
      if (isClientId(request.clientId)) {
        await store.touchClient(knex, request.clientId, now, new Date(now.getTime() - DAY_MS));
      }
      return token;
    },
  };
}
