import { ApiError } from '../errors/api-error.ts';
import type { Client } from '../platform/address.ts';
import type { AnonymousNetworks } from '../platform/anonymous-networks/index.ts';

/** What an application says about clients behind VPNs and proxies. */
export interface VpnRule {
  readonly blockVpn: boolean;
  readonly vpnFailClosed: boolean;
}

export interface Vpn {
  /**
   * Refuses addresses of VPNs and proxies, where the application blocks them.
   * @throws ApiError VPN_BLOCKED
   */
  assertNone(rule: VpnRule, client: Client): void;
  /** Reads the list of networks again when it has changed. @returns 1 when it was read, otherwise 0 */
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
