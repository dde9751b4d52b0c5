import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import type { Account, Limits } from '../limits/limits.ts';
import type { Passwords } from '../passwords/passwords.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import * as store from './user-store.ts';
import { usernameKey } from './username.ts';

/** Where somebody comes from who says that he is a user. */
export interface Claimant {
  readonly client: Client;
  /** The machine that is claimed; undefined where none matters. */
  readonly hwidDigest?: Buffer;
}

export interface Credentials {
  /**
   * Finds the user whose password it is. Unknown user and wrong password are the same work, and failures count for the name
   * and the address. A hash that is not one of ours is replaced.
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS; VALIDATION_FAILED for what can be no username
   */
  check(
    appId: string,
    credentials: { readonly username: string; readonly password: string },
    claimant: Claimant,
  ): Promise<store.UserRow>;
  /**
   * Reads a user again whose password was checked, and holds the row until the transaction ends.
   * @throws ApiError INVALID_CREDENTIALS when he is gone or has another password by now
   */
  hold(trx: Knex.Transaction, checked: store.UserRow): Promise<store.UserRow>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly passwords: Passwords;
  readonly limits: Limits;
}

export function createCredentials({ knex, passwords, limits }: Dependencies): Credentials {
  return {
    async check(appId, { username, password }, claimant) {
      const key = usernameKey(username);
      const address = atAddress(appId, key, claimant.client);
      const machine = claimant.hwidDigest && onMachine(address, claimant.hwidDigest);
      const user = await store.findUser(knex, appId, key);
      const { valid, rehashed } = await passwords.verify(user?.password_hash ?? undefined, password);
      if (!user || !valid) {
        await limits.countFailure([address, ...(machine ? [machine] : [])]);
        throw new ApiError('INVALID_CREDENTIALS');
      }
      const own = isBoundTo(user, claimant.hwidDigest);
      await limits.assertMayTry([address, ...(machine && own ? [machine] : [])]);
      if (rehashed) await store.replacePasswordHash(knex, user, rehashed);
      return user;
    },

    async hold(trx, checked) {
      const user = await store.lockUser(trx, checked.user_id);
      if (!user || user.password_version !== checked.password_version)
        throw new ApiError('INVALID_CREDENTIALS');
      return user;
    },
  };
}

/** Failures in one name from one address count together: those from elsewhere never lock anybody out. */
export function atAddress(appId: string, key: string, client: Client): Account {
  return [appId, key, addressBlock(client.address)];
}

/**
 * They also count for the machine that was claimed. Behind an address that somebody else has used up, the right password
 * still opens an account from its own machine; a wrong one is answered the same from every machine.
 */
function onMachine(address: Account, hwidDigest: Buffer): Account {
  return [...address, hwidDigest.toString('base64')];
}

function isBoundTo(user: store.UserRow, hwidDigest: Buffer | undefined): boolean {
  return (
    hwidDigest !== undefined && user.hwid_digest !== null && timingSafeEqual(user.hwid_digest, hwidDigest)
  );
}
