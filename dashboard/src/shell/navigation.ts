import type { IconName } from '../components/icon.tsx';

/** A page of the sidebar and the palette. */
export interface Destination {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Whether only its own address makes it the current page, and not those below it. */
  readonly isExact?: boolean;
}

/** The pages of the account. */
export const ACCOUNT_PAGES = [
  { to: '/', label: 'Overview', icon: 'overview', isExact: true },
  { to: '/events', label: 'All events', icon: 'pulse' },
  { to: '/resellers', label: 'Resellers', icon: 'store' },
  { to: '/access', label: 'Access', icon: 'lock' },
  { to: '/audit-log', label: 'Audit log', icon: 'list' },
  { to: '/plan', label: 'Plan', icon: 'card' },
] as const satisfies readonly Destination[];

/** The pages of an application. */
export const APPLICATION_PAGES = [
  { to: '/apps/$appId', label: 'Statistics', icon: 'chart', isExact: true },
  { to: '/apps/$appId/licenses', label: 'Licenses', icon: 'key' },
  { to: '/apps/$appId/users', label: 'Users', icon: 'users' },
  { to: '/apps/$appId/sessions', label: 'Live sessions', icon: 'screen' },
  { to: '/apps/$appId/bans', label: 'Bans', icon: 'ban' },
  { to: '/apps/$appId/events', label: 'Events', icon: 'pulse' },
  { to: '/apps/$appId/variables', label: 'Variables', icon: 'braces' },
  { to: '/apps/$appId/files', label: 'Files', icon: 'file' },
  { to: '/apps/$appId/webhooks', label: 'Webhooks', icon: 'webhook' },
  { to: '/apps/$appId/settings', label: 'Settings', icon: 'settings' },
] as const satisfies readonly Destination[];

/** The pages of a reseller. */
export const RESELLER_PAGES = [
  { to: '/reseller', label: 'Home', icon: 'overview', isExact: true },
  { to: '/reseller/buy', label: 'Buy keys', icon: 'plus' },
  { to: '/reseller/keys', label: 'Keys', icon: 'key' },
  { to: '/reseller/users', label: 'Users', icon: 'users' },
  { to: '/reseller/ledger', label: 'Ledger', icon: 'list' },
] as const satisfies readonly Destination[];

/** The pages of the operator. */
export const ADMINISTRATOR_PAGES = [
  { to: '/admin', label: 'Overview', icon: 'overview', isExact: true },
  { to: '/admin/developers', label: 'Developers', icon: 'users' },
  { to: '/admin/invoices', label: 'Invoices', icon: 'receipt' },
  { to: '/admin/plans', label: 'Plans', icon: 'layers' },
  { to: '/admin/signing-keys', label: 'Signing keys', icon: 'key' },
  { to: '/admin/audit-log', label: 'Audit log', icon: 'list' },
] as const satisfies readonly Destination[];
