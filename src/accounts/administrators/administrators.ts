import type { Actor } from '../../foundation/audit/audit.ts';
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
}

/** @param tokens each of them is accepted; with an empty list, no administrator can sign in */
export function createAdministrators(tokens: readonly string[]): Administrators {
  return {
    authenticate(token, address) {
      // Every token is compared, so that the response time does not reveal which one matched.
      const known = tokens.filter((each) => isSameSecret(each, token)).length > 0;
      if (!known) return undefined;
      return { kind: 'administrator', id: ADMINISTRATOR, developerId: ADMINISTRATOR, address };
    },
  };
}
