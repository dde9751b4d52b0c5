import { ApiError } from '../errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { AnonymousNetworks } from '../../platform/anonymous-networks/index.ts';

/** The switches of an application for clients behind VPNs and proxies. */
export interface VpnRule {
  readonly blockVpn: boolean;
  readonly vpnFailClosed: boolean;
}

export interface Vpn {
  /**
   * Refuses addresses of VPNs and proxies if the application blocks them.
   * @throws ApiError VPN_BLOCKED
   */
  assertNone(rule: VpnRule, client: Client): void;
  /** Reloads the list of networks when it has changed. @returns 1 when it was reloaded, otherwise 0 */
  refresh(): Promise<number>;
}

export function createVpn(networks: AnonymousNetworks): Vpn {
  return {
    assertNone({ blockVpn, vpnFailClosed }, client) {
      if (!blockVpn) return;
      if (networks.has(client.address) ?? vpnFailClosed) throw new ApiError('VPN_BLOCKED');
    },
    refresh: () => networks.refresh(),
  };
}
