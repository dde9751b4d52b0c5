import type { Knex } from 'knex';
import type { AccessTokens, NewAccessToken } from '../access-tokens/access-tokens.ts';
import type { Addresses } from '../addresses/addresses.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import * as store from './client-store.ts';
import { isClientId } from './registered-clients.ts';
import type { Records } from './records.ts';

/** An access token lives an hour. */
export const ACCESS_TOKEN_SECONDS = 3600;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Whom an access token is for and what it can do. */
export interface Issue extends Omit<NewAccessToken, 'expiresAt'> {
  /** `sub`: the developer, or the client that acts by itself. */
  readonly subject: string;
}

/** Signs access tokens (RFC 9068) and notes each: what is not noted is nothing. */
export interface Issuance {
  issue(issue: Issue): Promise<string>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly accessTokens: Pick<AccessTokens, 'register'>;
  readonly records: Pick<Records, 'holdGrant'>;
  readonly signingKeys: Pick<SigningKeys, 'sign'>;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly random: Random;
}

export function createIssuance(deps: Dependencies): Issuance {
  const { knex, accessTokens, records, signingKeys, addresses, clock, random } = deps;

  /** What it is issued for may have been revoked since it was looked at: then the token is dead from the start. */
  async function holds(trx: Knex.Transaction, { grantId, clientId }: Issue): Promise<boolean> {
    if (grantId !== null) return records.holdGrant(trx, grantId);
    return (await store.holdClient(trx, clientId)) !== undefined;
  }

  return {
    async issue(issue) {
      const now = clock.now();
      const issuedAt = Math.floor(now.getTime() / 1000);
      const { subject, ...registered } = issue;
      const token = await signingKeys.sign('at+jwt', {
        iss: addresses.issuer(),
        sub: subject,
        aud: issue.audience,
        client_id: issue.clientId,
        scope: issue.scopes.join(' '),
        jti: random.bytes(16).toString('base64url'),
        iat: issuedAt,
        exp: issuedAt + ACCESS_TOKEN_SECONDS,
      });
      const expiresAt = new Date((issuedAt + ACCESS_TOKEN_SECONDS) * 1000);
      await knex.transaction(async (trx) => {
        if (await holds(trx, issue)) await accessTokens.register(trx, token, { ...registered, expiresAt });
      });
      if (isClientId(issue.clientId)) {
        await store.touchClient(knex, issue.clientId, now, new Date(now.getTime() - DAY_MS));
      }
      return token;
    },
  };
}
