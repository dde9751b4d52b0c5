import type { Knex } from 'knex';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import { foldedName } from '../../foundation/names/names.ts';
import type { FoundLicense, Licenses } from '../licenses/licenses.ts';
import type { FoundUser, UserSearch } from '../users/users.ts';

/** Something that a search has found. */
export interface Hit {
  readonly kind: 'application' | 'license' | 'user';
  readonly id: string;
  readonly appId: string;
  readonly applicationName: string;
  /** The name of the application or of the user, or the license key. */
  readonly title: string;
  /** The note of the license, or the email address of the user. */
  readonly detail: string | null;
  readonly match: 'id' | 'application_name' | FoundLicense['match'] | FoundUser['match'];
  readonly state: string;
  readonly tier: string | null;
  /** How well it matches: 0 exactly, 1 at the beginning, 2 somewhere. */
  readonly rank: number;
}

/** Searches all applications of a developer. */
export interface Search {
  /** @returns up to `limit` hits, the best ones first, and whether these are all */
  find(
    developerId: string,
    text: string,
    limit: number,
  ): Promise<{ readonly hits: readonly Hit[]; readonly isComplete: boolean }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'idsOfDeveloper' | 'findOfDeveloper'>;
  readonly licenses: { readonly search: Licenses['search'] };
  readonly userSearch: UserSearch;
}

export function createSearch({ knex, applications, licenses, userSearch }: Dependencies): Search {
  return {
    async find(developerId, text, limit) {
      const ids = await applications.idsOfDeveloper(knex, developerId);
      const own = await applications.findOfDeveloper(knex, developerId, ids);
      if (own.size === 0) return { hits: [], isComplete: true };
      const { users, isComplete: hasAllUsers } = await userSearch.search(own, text, limit);
      // Users that the text names, not those that it only resembles.
      const holders = users.filter(({ rank }) => rank === 0).map(({ userId }) => userId);
      const found = await licenses.search([...own.keys()], text, holders, limit);
      const hits = [
        ...findApplications(own, text),
        ...users.map((user) => ofUser(user, own.get(user.appId)!)),
        ...found.licenses.map((license) => ofLicense(license, own.get(license.appId)!)),
      ].sort((a, b) => a.rank - b.rank);
      return {
        hits: hits.slice(0, limit),
        isComplete: hasAllUsers && found.isComplete && hits.length <= limit,
      };
    },
  };
}

function findApplications(own: ReadonlyMap<string, Application>, text: string): Hit[] {
  const part = foldedName(text).trim();
  return [...own.values()].flatMap((application) => {
    const { appId, name, status } = application;
    const folded = foldedName(name);
    const isNamed = appId === text.trim();
    if (!isNamed && (part === '' || !folded.includes(part))) return [];
    const rank = isNamed || folded === part ? 0 : folded.startsWith(part) ? 1 : 2;
    return {
      ...inApplication(application),
      kind: 'application',
      id: appId,
      title: name,
      detail: null,
      match: isNamed ? 'id' : 'application_name',
      state: status,
      tier: null,
      rank,
    };
  });
}

function ofUser(user: FoundUser, application: Application): Hit {
  const { userId: id, username: title, email: detail, match, state, tier, rank } = user;
  return { ...inApplication(application), kind: 'user', id, title, detail, match, state, tier, rank };
}

function ofLicense(license: FoundLicense, application: Application): Hit {
  const { licenseId: id, licenseKey: title, note: detail, match, status: state, tier } = license;
  const rank = match === 'note' ? 2 : match === 'redeemed_by' ? 1 : 0;
  return { ...inApplication(application), kind: 'license', id, title, detail, match, state, tier, rank };
}

function inApplication({ appId, name }: Application) {
  return { appId, applicationName: name };
}
