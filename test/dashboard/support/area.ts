import type { TestService } from '../../support/service.ts';
import type { Account } from './account.ts';

/** A page of the dashboard. A new page is a line in its area, and all tests of pages cover it. */
export interface DashboardRoute {
  readonly name: string;
  readonly path: (account: Account) => string;
  /** A text that the page shows when it is complete. */
  readonly shows: string;
}

/** Who is signed in. */
export type Visitor = 'developer' | 'reseller' | 'administrator';

/** Pages that belong together. */
export interface Area {
  /** Who is signed in on them. The default is the developer of the account. */
  readonly visitor?: Visitor;
  /** Creates what the pages show, through the API. */
  readonly prepare?: (service: TestService, account: Account) => Promise<void>;
  readonly routes: readonly DashboardRoute[];
}

/** The path of the application of an account. */
export const appPath = ({ app }: Account): string => `/apps/${app.app_id}`;
