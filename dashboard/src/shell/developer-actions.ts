import type { IconName } from '../components/icon.tsx';

/** What the palette offers to do, or a part of a page: the address that begins it. */
interface Action {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  readonly search?: Readonly<Record<string, string>>;
}

const CREATE = { create: 'yes' };

/** What can be done in the current application. */
export const APPLICATION_ACTIONS = [
  { to: '/apps/$appId/licenses', label: 'Create keys', icon: 'plus', search: CREATE },
  { to: '/apps/$appId/users', label: 'Add user', icon: 'plus', search: CREATE },
  { to: '/apps/$appId/bans', label: 'Create ban', icon: 'plus', search: CREATE },
  { to: '/apps/$appId/variables', label: 'Create variable', icon: 'plus', search: CREATE },
  { to: '/apps/$appId/webhooks', label: 'Create webhook', icon: 'plus', search: CREATE },
  { to: '/apps/$appId/settings', label: 'Rotate the secret', icon: 'settings' },
] as const satisfies readonly Action[];

/** What can be done in the account. */
export const ACCOUNT_ACTIONS = [
  { to: '/', label: 'Create application', icon: 'plus', search: CREATE },
  { to: '/resellers', label: 'Create reseller', icon: 'plus', search: CREATE },
  { to: '/access', label: 'Create API token', icon: 'plus', search: { tab: 'tokens', ...CREATE } },
] as const satisfies readonly Action[];

/** Tabs of the account's pages. */
export const TABS = [
  { to: '/access', label: 'API tokens', icon: 'lock', search: { tab: 'tokens' } },
  { to: '/access', label: 'OAuth clients', icon: 'lock', search: { tab: 'clients' } },
  { to: '/access', label: 'Authorizations', icon: 'lock', search: { tab: 'authorizations' } },
  { to: '/access', label: 'Agents', icon: 'lock', search: { tab: 'agents' } },
  { to: '/access', label: 'Security events', icon: 'lock', search: { tab: 'receivers' } },
  { to: '/access', label: 'Browser sessions and password', icon: 'lock', search: { tab: 'sign-in' } },
  { to: '/plan', label: 'Packs', icon: 'card', search: { tab: 'packs' } },
  { to: '/plan', label: 'Invoices', icon: 'receipt', search: { tab: 'invoices' } },
] as const satisfies readonly Action[];
