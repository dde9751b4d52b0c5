import type { TestService } from '../../support/service.ts';
import { type Account, newAccount } from './account.ts';
import type { Area } from './area.ts';
import { account } from './areas/account.ts';
import { application } from './areas/application.ts';
import { basics } from './areas/basics.ts';
import { live } from './areas/live.ts';
import { admin } from './areas/admin.ts';
import { reseller } from './areas/reseller.ts';

const AREAS: readonly Area[] = [basics, application, live, account, reseller, admin];

/** The pages of everyone who can sign in, also with their dialogs open. */
export const ROUTES = AREAS.flatMap(({ visitor = 'developer', routes }) =>
  routes.map((route) => ({ visitor, ...route })),
);

/** A developer with enough of everything that every page has something to show. */
export async function prepareAccount(service: TestService): Promise<Account> {
  const account = await newAccount(service);
  for (const { prepare } of AREAS) await prepare?.(service, account);
  return account;
}
