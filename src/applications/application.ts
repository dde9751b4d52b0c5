import { ApiError } from '../errors/api-error.ts';
import { isTakenUntil, type ApplicationStatus, type Pause } from './application-state.ts';
import type { ApplicationRow, ApplicationWithUsage } from './application-store.ts';

/** What a developer sets. */
export interface ApplicationSettings {
  readonly name: string;
  readonly hwidLock: boolean;
  readonly integrityCheck: boolean;
  /** SHA-256 in lower-case hexadecimal. */
  readonly executableHashes: readonly string[];
  readonly pauseSessions: boolean;
  readonly requireSubscription: boolean;
  readonly requireSignatures: boolean;
  /** The responses to unsigned requests carry signatures of version 2 alone. */
  readonly bindResponses: boolean;
  readonly blockVpn: boolean;
  readonly vpnFailClosed: boolean;
  readonly minimumVersion: string | null;
  readonly downloadUrl: string | null;
  /** Live sessions a user. */
  readonly maxSessions: number;
  /** The lowest first. */
  readonly tiers: readonly string[];
}

export interface Application extends ApplicationSettings, Pause {
  readonly appId: string;
  readonly status: ApplicationStatus;
  /** The plan has had no room for it since a change: from then on logins are refused. Null while it has. */
  readonly graceEndsAt: Date | null;
}

/** An application as its developer sees it. */
export interface OwnApplication extends Application {
  /** How many are registered. */
  readonly users: number;
  /** Until when the secret from before the last rotation is taken too; null when it is not. */
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A row as the domain sees it. */
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
    blockVpn: row.block_vpn,
    vpnFailClosed: row.vpn_fail_closed,
    minimumVersion: row.minimum_version,
    downloadUrl: row.download_url,
    maxSessions: row.max_sessions,
    tiers: row.tiers,
    graceEndsAt: row.grace_ends_at,
  };
}

/** A row as its developer sees it now. */
export function toOwnApplication(row: ApplicationWithUsage, now: Date): OwnApplication {
  return {
    ...toApplication(row),
    users: row.users,
    previousSecretUntil: isTakenUntil(row.previous_secret_until, now) ? row.previous_secret_until : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The columns of the settings that are given. */
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
    block_vpn: settings.blockVpn,
    vpn_fail_closed: settings.vpnFailClosed,
    minimum_version: settings.minimumVersion,
    download_url: settings.downloadUrl,
    max_sessions: settings.maxSessions,
    tiers: settings.tiers && [...settings.tiers],
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** The row of an application that must be there. @throws ApiError APPLICATION_NOT_FOUND */
export async function required(
  row: Promise<ApplicationWithUsage | undefined>,
): Promise<ApplicationWithUsage> {
  const found = await row;
  if (!found) throw new ApiError('APPLICATION_NOT_FOUND');
  return found;
}

/** Refuses one that its developer has disabled. @throws ApiError APPLICATION_INACTIVE */
export function assertUsable({ status }: Application): void {
  if (status === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
}
