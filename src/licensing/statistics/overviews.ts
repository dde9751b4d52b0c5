import type { Knex } from 'knex';
import type { Applications, OwnApplication } from '../../accounts/applications/applications.ts';
import type { Developers, Quota } from '../../accounts/developers/developers.ts';
import type { PageRequest } from '../../foundation/paging/page.ts';
import { addDays, dayOf, daysBetween } from '../../platform/calendar-state.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  addLicenseNumbers,
  type LicenseCounts,
  type LicenseNumbers,
  type Licenses,
} from '../licenses/licenses.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { sumOf, toChart, type Count, type Series } from './statistics-state.ts';
import { hasLogin, readTotals } from './statistics-store.ts';

const DAYS_SHOWN = 14;
const TODAY = ['logins', 'users_new', 'refused_logins'] as const;

/** How many users, live sessions and licenses an application has. */
export interface ApplicationCounts {
  readonly users: number;
  readonly liveSessions: number;
  readonly licenses: LicenseCounts;
}

/** One application of an overview. */
export interface ApplicationOverview extends Pick<OwnApplication, 'appId' | 'name' | 'status' | 'createdAt'> {
  readonly users: number;
  readonly liveSessions: number;
  readonly licenses: LicenseNumbers;
  readonly refusedLoginsToday: number;
  readonly logins: Series;
  readonly newUsers: Series;
}

export interface Overview {
  readonly quotas: { readonly apps: Quota; readonly usersPerApp: Quota; readonly licenses: Quota | null };
  /** Over all applications of the developer. */
  readonly totals: {
    readonly applications: number;
    readonly users: number;
    readonly liveSessions: number;
    readonly licenses: LicenseNumbers;
    readonly loginsToday: number;
    readonly newUsersToday: number;
    readonly refusedLoginsToday: number;
  };
  readonly hasLogin: boolean;
  /** The days of the series. */
  readonly days: readonly string[];
  readonly data: readonly ApplicationOverview[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The current numbers of applications. */
export interface Overviews {
  /** @throws ApiError APPLICATION_NOT_FOUND */
  counts(developerId: string, appId: string): Promise<ApplicationCounts>;
  /**
   * All applications of a developer: their totals, and one page of them, newest first. The number of statements is the
   * same for any number of applications.
   */
  overview(developerId: string, page: PageRequest): Promise<Overview>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper' | 'usersOf' | 'list' | 'usersOfDeveloper'>;
  readonly developers: Pick<Developers, 'account'>;
  readonly licenses: Pick<Licenses, 'countsOf'>;
  readonly sessions: Pick<Sessions, 'countLiveOfApplications'>;
  readonly clock: Clock;
}

export function createOverviews(deps: Dependencies): Overviews {
  const { knex, applications, developers, licenses, sessions, clock } = deps;
  /** Reads everything of one moment. */
  const inSnapshot = <Result>(work: (trx: Knex.Transaction) => Promise<Result>) =>
    knex.transaction(work, { isolationLevel: 'repeatable read', readOnly: true });

  return {
    async counts(developerId, appId) {
      await applications.ofDeveloper(developerId, appId);
      return inSnapshot(async (trx) => ({
        users: await applications.usersOf(trx, appId),
        liveSessions: (await sessions.countLiveOfApplications(trx, [appId], clock.now())).get(appId)!,
        licenses: (await licenses.countsOf(trx, [appId])).get(appId)!,
      }));
    },

    async overview(developerId, request) {
      const { apps, maxUsersPerApp, licenses: licenseQuota } = await developers.account(developerId);
      const page = await applications.list(developerId, request);
      const shown = page.data.map(({ appId }) => appId);
      const now = clock.now();
      const today = dayOf(now);
      const days = daysBetween(addDays(today, 1 - DAYS_SHOWN), today);
      return inSnapshot(async (trx) => {
        const users = await applications.usersOfDeveloper(trx, developerId);
        const all = [...users.keys()];
        const keys = await licenses.countsOf(trx, [...new Set([...all, ...shown])]);
        const live = await sessions.countLiveOfApplications(trx, all, now);
        const ofToday = await readTotals(trx, all, [today], TODAY);
        const ofDays = byApplication(await readTotals(trx, shown, days, ['logins', 'users_new']));
        const chartOfToday = toChart([today], ofToday);
        const todayOf = byApplication(ofToday);
        return {
          quotas: {
            apps,
            usersPerApp: { limit: maxUsersPerApp, used: Math.max(0, ...users.values()) },
            licenses: licenseQuota,
          },
          totals: {
            applications: all.length,
            users: sumOf([...users.values()]),
            liveSessions: sumOf([...live.values()]),
            licenses: addLicenseNumbers(all.map((appId) => keys.get(appId)!)),
            loginsToday: sumOf(chartOfToday.total('logins')),
            newUsersToday: sumOf(chartOfToday.total('users_new')),
            refusedLoginsToday: sumOf(chartOfToday.total('refused_logins')),
          },
          hasLogin: await hasLogin(trx, all),
          days,
          data: page.data.map((application) => {
            const { appId } = application;
            const chart = toChart(days, ofDays.get(appId) ?? []);
            return {
              ...application,
              users: users.get(appId) ?? 0,
              liveSessions: live.get(appId) ?? 0,
              licenses: keys.get(appId)!,
              refusedLoginsToday: sumOf(toChart([today], todayOf.get(appId) ?? []).total('refused_logins')),
              logins: chart.total('logins'),
              newUsers: chart.total('users_new'),
            };
          }),
          nextCursor: page.nextCursor,
        };
      });
    },
  };
}

const byApplication = (counts: readonly Count[]) => Map.groupBy(counts, ({ app_id }) => app_id);
