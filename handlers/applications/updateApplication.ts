import type { Handler } from '../handler.ts';
import { toApplication } from './application.ts';

export const updateApplication: Handler<'updateApplication'> = async (
  { path, body, actor },
  { applications },
) => {
  const application = await applications.update(actor, path.app_id, {
    name: body.name,
    status: body.status,
    paused: body.paused,
    hwidLock: body.hwid_lock,
    integrityCheck: body.integrity_check,
    executableHashes: body.executable_hashes,
    pauseSessions: body.pause_sessions,
    requireSubscription: body.require_subscription,
    requireSignatures: body.require_signatures,
    bindResponses: body.bind_responses,
    secretlessClients: body.secretless_clients,
    requireClientTrust: body.require_client_trust,
    blockVpn: body.block_vpn,
    vpnFailClosed: body.vpn_fail_closed,
    minimumVersion: body.minimum_version,
    downloadUrl: body.download_url,
    maxSessions: body.max_sessions,
    tiers: body.tiers,
  });
  return { status: 200, body: { status: 'success', ...toApplication(application) } };
};
