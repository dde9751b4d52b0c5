import type { Actor } from '../audit/audit.ts';
import { isSameSecret } from '../platform/constant-time.ts';

/** What stands in the audit log for whoever runs this service; what concerns no developer is under this name too. */
const ADMINISTRATOR = 'administrator';

/** Whoever runs this service, known by a token of its configuration. */
export interface Administrators {
  /** @returns the administrator; undefined when the token is not his */
  authenticate(token: string, address: string): Actor | undefined;
}

/** @param tokens every one of them is taken; where there is none nobody is let in */
export function createAdministrators(tokens: readonly string[]): Administrators {
  return {
    authenticate(token, address) {
      // All of them are compared: the time tells nothing about which one it is.
      const known = tokens.filter((each) => isSameSecret(each, token)).length > 0;
      if (!known) return undefined;
      return { kind: 'administrator', id: ADMINISTRATOR, developerId: ADMINISTRATOR, address };
    },
  };
}
