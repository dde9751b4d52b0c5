export type { DeveloperAccounts, DeveloperDetails } from './developer-accounts.ts';
export type { Installation, InstallationReport } from './installation.ts';
