import { createBans } from '../bans/bans.ts';
import { createLicenses, type Licenses } from '../licenses/licenses.ts';
import { createModeration } from '../moderation/moderation.ts';
import { createSessionLookup } from '../sessions/session-lookup.ts';
import { createSessions } from '../sessions/sessions.ts';
import { createCredentials } from '../users/credentials.ts';
import { createHwidResets } from '../users/hwid-resets.ts';
import { createLogins } from '../users/logins.ts';
import { createUserDirectory } from '../users/user-directory.ts';
import { createUserImports } from '../users/user-imports.ts';
import { createUserManagement } from '../users/user-management.ts';
import { createUsers, type Users } from '../users/users.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';

export type Licensing = ReturnType<typeof composeLicensing>;

/** Licences, the users who redeem them, their sessions, and who is kept out. */
export function composeLicensing(before: Foundation & Accounts) {
  const { broker, pool, metrics } = before;
  const bans = createBans(before);
  const lookup = createSessionLookup(pool, metrics.observeBatch);
  const sessions = createSessions({ ...before, lookup, bans, keepIds: !broker.embedded });
  const licenses: Licenses = createLicenses({
    ...before,
    // Users know licences, who ask of them who holds one.
    holders: {
      find: (...user) => users.find(...user),
      forgetLicense: (...license) => users.forgetLicense(...license),
    },
  });
  const known = { ...before, bans, sessions, licenses };
  const users: Users = createUsers(known);
  const credentials = createCredentials(before);
  return {
    bans,
    sessions,
    licenses,
    users,
    logins: createLogins({ ...known, credentials }),
    hwidResets: createHwidResets({ ...known, credentials }),
    userDirectory: createUserDirectory(known),
    userImports: createUserImports(known),
    userManagement: createUserManagement(known),
    moderation: createModeration({ ...known, users }),
  };
}
