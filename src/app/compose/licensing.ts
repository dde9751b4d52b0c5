import { createBans } from '../../licensing/bans/bans.ts';
import { createDevices } from '../../licensing/devices/devices.ts';
import { createFiles } from '../../licensing/files/files.ts';
import { createLicenses, type Licenses } from '../../licensing/licenses/licenses.ts';
import { createBulkModeration } from '../../licensing/moderation/bulk-moderation.ts';
import { createModeration } from '../../licensing/moderation/moderation.ts';
import { createSearch } from '../../licensing/search/search.ts';
import { createSessionLookup } from '../../licensing/sessions/session-lookup.ts';
import { createSessions } from '../../licensing/sessions/sessions.ts';
import { createStatistics } from '../../licensing/statistics/statistics.ts';
import { createCredentials } from '../../licensing/users/credentials.ts';
import { createHwidResets } from '../../licensing/users/hwid-resets.ts';
import { createLoginQueue } from '../../licensing/users/login-queue.ts';
import { createLogins } from '../../licensing/users/logins.ts';
import { createRefusedLogins } from '../../licensing/users/refused-logins.ts';
import { createRenewals } from '../../licensing/users/renewals.ts';
import { createUserDirectory } from '../../licensing/users/user-directory.ts';
import { createUserImports } from '../../licensing/users/user-imports.ts';
import { createUserManagement } from '../../licensing/users/user-management.ts';
import { createUserSearch } from '../../licensing/users/user-search.ts';
import { createUsers, type Users } from '../../licensing/users/users.ts';
import { createVariables } from '../../licensing/variables/variables.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';

export type Licensing = ReturnType<typeof composeLicensing>;

/** Licenses, the users who redeem them, their sessions and bans, and what an application delivers to its users. */
export function composeLicensing(before: Foundation & Accounts) {
  const { broker, pool, metrics, config } = before;
  const bans = createBans(before);
  const lookup = createSessionLookup(pool, metrics.observeBatch);
  const sessions = createSessions({ ...before, lookup, bans, keepIds: !broker.embedded });
  const licenses: Licenses = createLicenses({
    ...before,
    // Users depend on licenses, which in turn need to find the users who redeemed them.
    holders: {
      find: (...user) => users.find(...user),
      forgetLicense: (...license) => users.forgetLicense(...license),
      lockAllForUpdate: (...holders) => users.lockAllForUpdate(...holders),
    },
  });
  const devices = createDevices({ ...before, bans });
  const known = { ...before, bans, sessions, licenses, devices };
  const users: Users = createUsers(known);
  const credentials = createCredentials(before);
  // One for both, because it limits the connections that logins and renewals hold together.
  const loginQueue = createLoginQueue(before.clock);
  const userDirectory = createUserDirectory(known);
  const bulkModeration = createBulkModeration({ ...known, users, userDirectory });
  return {
    bans,
    devices,
    sessions,
    licenses,
    users,
    logins: createLogins({ ...known, credentials, loginQueue }),
    renewals: createRenewals({ ...known, loginQueue }),
    refusedLogins: createRefusedLogins(before),
    hwidResets: createHwidResets({ ...known, credentials }),
    userDirectory,
    userImports: createUserImports(known),
    userManagement: createUserManagement({ ...known, userDirectory }),
    moderation: { ...createModeration({ ...known, users }), ...bulkModeration },
    search: createSearch({ ...known, userSearch: createUserSearch(known) }),
    variables: createVariables({ ...known, users }),
    files: createFiles({ ...known, quotaBytes: config.fileQuotaBytes }),
    statistics: createStatistics(known),
  };
}
