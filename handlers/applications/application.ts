import type { components } from '../../generated/types.ts';
import type { OwnApplication } from '../../src/accounts/applications/applications.ts';

/** An application as the contract shows it to its developer. */
export function toApplication(application: OwnApplication): components['schemas']['Application'] {
  return {
    app_id: application.appId,
    name: application.name,
    status_code: application.status,
    paused: application.status === 'paused',
    hwid_lock: application.hwidLock,
    integrity_check: application.integrityCheck,
    executable_hashes: [...application.executableHashes],
    pause_sessions: application.pauseSessions,
    require_subscription: application.requireSubscription,
    require_signatures: application.requireSignatures,
    bind_responses: application.bindResponses,
    secretless_clients: application.secretlessClients,
    require_client_trust: application.requireClientTrust,
    block_vpn: application.blockVpn,
    vpn_fail_closed: application.vpnFailClosed,
    minimum_version: application.minimumVersion,
    download_url: application.downloadUrl,
    max_sessions: application.maxSessions,
    tiers: [...application.tiers],
    users: application.users,
    previous_secret_until: application.previousSecretUntil?.toISOString() ?? null,
    created_at: application.createdAt.toISOString(),
    updated_at: application.updatedAt.toISOString(),
  };
}
