import { ApiError } from '../../foundation/errors/api-error.ts';
import { isTakenUntil, type ApplicationStatus, type Pause } from './application-state.ts';
import type { ApplicationRow, ApplicationWithUsage } from './application-store.ts';

/** What the developer configures. */
export interface ApplicationSettings {
  readonly name: string;
  readonly hwidLock: boolean;
  readonly integrityCheck: boolean;
  /** SHA-256 in lowercase hexadecimal. */
  readonly executableHashes: readonly string[];
  readonly pauseSessions: boolean;
  readonly requireSubscription: boolean;
  readonly requireSignatures: boolean;
  /** Responses to unsigned requests are signed with version 2 only. */
  readonly bindResponses: boolean;
  /** Programs without the secret may register and log in users and redeem keys. */
  readonly secretlessClients: boolean;
  /** Requests must request signed responses, and sessions must be bound to a device. */
  readonly requireClientTrust: boolean;
  readonly blockVpn: boolean;
  readonly vpnFailClosed: boolean;
  readonly minimumVersion: string | null;
  readonly downloadUrl: string | null;
  /** Live sessions per user. */
  readonly maxSessions: number;
  /** From the lowest to the highest. */
  readonly tiers: readonly string[];
}

export interface Application extends ApplicationSettings, Pause {
  readonly appId: string;
  readonly status: ApplicationStatus;
  /** When logins are refused because the application exceeds a changed plan; null while it does not. */
  readonly graceEndsAt: Date | null;
}

/** An application as shown to its developer. */
export interface OwnApplication extends Application {
  /** The number of registered users. */
  readonly users: number;
  /** Until when the previous secret stays valid; null when it is not. */
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Converts a row. */
export function toApplication(row: ApplicationRow): Application {
  return {
    appId: row.app_id,
    name: row.name,
    status: row.status,
    pausedAt: row.paused_at,
    pausedTotalMs: row.paused_total_ms,
    hwidLock: row.hwid_lock,
    integrityCheck: row.integrity_check,
    executableHashes: row.executable_hashes,
    pauseSessions: row.pause_sessions,
    requireSubscription: row.require_subscription,
    requireSignatures: row.require_signatures,
    bindResponses: row.bind_responses,
    secretlessClients: row.secretless_clients,
    requireClientTrust: row.require_client_trust,
    blockVpn: row.block_vpn,
    vpnFailClosed: row.vpn_fail_closed,
    minimumVersion: row.minimum_version,
    downloadUrl: row.download_url,
    maxSessions: row.max_sessions,
    tiers: row.tiers,
    graceEndsAt: row.grace_ends_at,
  };
}

/** Converts a row to what its developer sees now. */
export function toOwnApplication(row: ApplicationWithUsage, now: Date): OwnApplication {
  return {
    ...toApplication(row),
    users: row.users,
    previousSecretUntil: isTakenUntil(row.previous_secret_until, now) ? row.previous_secret_until : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The columns of the given settings. */
export function toColumns(settings: Partial<ApplicationSettings>): Partial<ApplicationRow> {
  const columns = {
    name: settings.name,
    hwid_lock: settings.hwidLock,
    integrity_check: settings.integrityCheck,
    executable_hashes: settings.executableHashes && [...settings.executableHashes],
    pause_sessions: settings.pauseSessions,
    require_subscription: settings.requireSubscription,
    require_signatures: settings.requireSignatures,
    bind_responses: settings.bindResponses,
    secretless_clients: settings.secretlessClients,
    require_client_trust: settings.requireClientTrust,
    block_vpn: settings.blockVpn,
    vpn_fail_closed: settings.vpnFailClosed,
    minimum_version: settings.minimumVersion,
    download_url: settings.downloadUrl,
    max_sessions: settings.maxSessions,
    tiers: settings.tiers && [...settings.tiers],
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** Requires that an application exists. @throws ApiError APPLICATION_NOT_FOUND */
export async function required(
  row: Promise<ApplicationWithUsage | undefined>,
): Promise<ApplicationWithUsage> {
  const found = await row;
  if (!found) throw new ApiError('APPLICATION_NOT_FOUND');
  return found;
}

/** Refuses a disabled application. @throws ApiError APPLICATION_INACTIVE */
export function assertUsable({ status }: Application): void {
  if (status === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
}
