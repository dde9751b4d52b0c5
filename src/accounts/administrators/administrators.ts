import type { Actor } from '../../foundation/audit/audit.ts';
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../platform/constant-time.ts';

/**
 * The actor in the audit log for the operator of this service. Entries that concern no developer are filed
 * under it too.
 */
const ADMINISTRATOR = 'administrator';

/** Authenticates the operators of this service by a token from its configuration. */
export interface Administrators {
  /** @returns the administrator; undefined for any other token */
  authenticate(token: string, address: string): Actor | undefined;
  /**
   * Binds a token to a secret, such as a cookie, without storing anything that could reveal the token.
   * @returns undefined for a token that is not valid
   */
  macOf(token: string, secret: string): Buffer | undefined;
  /** @returns the administrator while the token of the MAC is configured; undefined otherwise */
  ofMac(mac: Buffer, secret: string, address: string): Actor | undefined;
}

/** @param tokens each of them is accepted; with an empty list, no administrator can sign in */
export function createAdministrators(tokens: readonly string[]): Administrators {
  // Every token is compared, so that the response time does not reveal which one matched.
  const some = (matches: (token: string) => boolean) => tokens.filter(matches).length > 0;
  const isKnown = (token: string) => some((each) => isSameSecret(each, token));
  const toMac = (token: string, secret: string) => createHmac('sha256', secret).update(token).digest();
  const toActor = (address: string): Actor => ({
    kind: 'administrator',
    id: ADMINISTRATOR,
    developerId: ADMINISTRATOR,
    address,
  });

  return {
    authenticate: (token, address) => (isKnown(token) ? toActor(address) : undefined),
    macOf: (token, secret) => (isKnown(token) ? toMac(token, secret) : undefined),
    ofMac: (mac, secret, address) =>
      some((each) => isSameSecret(toMac(each, secret), mac)) ? toActor(address) : undefined,
  };
}
