import { createFiles } from '../files/files.ts';
import { createKeySafe } from '../licenses/license.ts';
import { createResellerLicenses } from '../licenses/reseller-licenses.ts';
import { createResellerPayments } from '../resellers/balance-payments.ts';
import { createLedger } from '../resellers/ledger.ts';
import { createResellerAccount } from '../resellers/reseller-account.ts';
import { createResellers } from '../resellers/resellers.ts';
import { createStatistics } from '../statistics/statistics.ts';
import { createVariables } from '../variables/variables.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Licensing } from './licensing.ts';

export type Products = ReturnType<typeof composeProducts>;

/** What developers build on it: variables, files, resellers and statistics. */
export function composeProducts(before: Foundation & Accounts & Licensing) {
  const ledger = createLedger(before);
  const resellerLicenses = createResellerLicenses({ ...before, safe: createKeySafe(before) });
  return {
    variables: createVariables(before),
    files: createFiles({ ...before, quotaBytes: before.config.fileQuotaBytes }),
    resellers: createResellers({ ...before, ledger }),
    resellerPayments: createResellerPayments(ledger),
    resellerAccount: createResellerAccount({ ...before, ledger, resellerLicenses }),
    statistics: createStatistics(before),
  };
}
