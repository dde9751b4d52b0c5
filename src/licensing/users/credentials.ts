import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Account, Limits } from '../../foundation/limits/limits.ts';
import type { Passwords } from '../../foundation/passwords/passwords.ts';
import { addressBlock, type Client } from '../../platform/address.ts';
import { noteAccount } from '../../platform/request-scope.ts';
import * as store from './user-store.ts';
import { usernameKey } from './username.ts';

/** The origin of a login attempt. */
export interface Claimant {
  readonly client: Client;
  /** The claimed machine; undefined if it does not matter. */
  readonly hwidDigest?: Buffer;
}

export interface Credentials {
  /**
   * Finds the user of a username, and names the account for the log.
   * @throws ApiError VALIDATION_FAILED for an invalid username
   */
  find(appId: string, username: string): Promise<store.UserRow | undefined>;
  /**
   * Finds a user by username and password. An unknown user costs the same work as a wrong password, and failures count
   * for the name and the address. Hashes of other systems are replaced.
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS; VALIDATION_FAILED for an invalid username
   */
  check(
    appId: string,
    credentials: { readonly username: string; readonly password: string },
    claimant: Claimant,
  ): Promise<store.UserRow>;
  /**
   * Reads a user again after the password was verified, and locks the row until the transaction ends.
   * @throws ApiError INVALID_CREDENTIALS if the user is deleted or has another password by now
   */
  lockForUpdate(trx: Knex.Transaction, checked: store.UserRow): Promise<store.UserRow>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly passwords: Passwords;
  readonly limits: Limits;
}

export function createCredentials({ knex, passwords, limits }: Dependencies): Credentials {
  async function find(appId: string, username: string): Promise<store.UserRow | undefined> {
    const user = await store.findUser(knex, appId, usernameKey(username));
    if (user) noteAccount(user.user_id);
    return user;
  }

  return {
    find,

    async check(appId, { username, password }, claimant) {
      const key = usernameKey(username);
      const address = atAddress(appId, key, claimant.client);
      const machine = claimant.hwidDigest && onMachine(address, claimant.hwidDigest);
      const user = await find(appId, username);
      const { valid, rehashed } = await passwords.verify(user?.password_hash ?? undefined, password);
      if (!user || !valid) {
        await limits.countFailure([address, ...(machine ? [machine] : [])]);
        throw new ApiError('INVALID_CREDENTIALS');
      }
      const own = isBoundTo(user, claimant.hwidDigest);
      await limits.assertAttemptAllowed([address, ...(machine && own ? [machine] : [])]);
      if (rehashed) await store.replacePasswordHash(knex, user, rehashed);
      return user;
    },

    async lockForUpdate(trx, checked) {
      const user = await store.lockUserForUpdate(trx, checked.user_id);
      if (!user || user.password_version !== checked.password_version)
        throw new ApiError('INVALID_CREDENTIALS');
      return user;
    },
  };
}

/** Failures for one name from one address count together: failures from elsewhere never lock the user out. */
export function atAddress(appId: string, key: string, client: Client): Account {
  return [appId, key, addressBlock(client.address)];
}

/**
 * They also count for the claimed machine. From an address that another client has locked, the right password still
 * works on the user's own machine; the response to a wrong one is the same for every machine.
 */
function onMachine(address: Account, hwidDigest: Buffer): Account {
  return [...address, hwidDigest.toString('base64')];
}

function isBoundTo(user: store.UserRow, hwidDigest: Buffer | undefined): boolean {
  return (
    hwidDigest !== undefined && user.hwid_digest !== null && timingSafeEqual(user.hwid_digest, hwidDigest)
  );
}
