import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from './platform/logger.ts';
import type { Services } from './services.ts';

const PAUSE_MS = 60_000;

/**
 * Clears rows away that nobody needs any more, a part at a time and one part after the other, so that no table grows for
 * ever. A chore that fails is put off to the next round and holds up no other.
 * @returns stops it, when the part that is being cleared is done
 */
export function startHousekeeping(services: Services, logger: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { apiTokens, applications, cluster, developers, events, files, idempotency, licenses } = services;
  const { limits, sessions, signatures, vpn, webhooks } = services;
  const chores = {
    'expired sessions': sessions.clearExpired,
    'expired developer sessions': developers.clearExpired,
    'expired API tokens': apiTokens.clearExpired,
    'answers of repeated requests': idempotency.clearExpired,
    'nonces whose days are over': signatures.clearExpired,
    'events whose days are over': events.clearExpired,
    'old deliveries of webhooks': webhooks.clearExpired,
    'windows of rate limits': limits.clearExpired,
    'contents of no file': files.clearContents,
    'lost nodes': cluster.clearLost,
    'networks of VPNs and proxies': vpn.refresh,
    'secrets from before a rotation': applications.clearPreviousSecrets,
    'webhook secrets from before a rotation': webhooks.clearPreviousSecrets,
    'deleted applications': () => clearDeletedApplication(services),
    'secrets under an old master key': applications.reseal,
    'licence keys under an old master key': licenses.reseal,
    'session ids under an old master key': sessions.reseal,
    'webhook secrets under an old master key': webhooks.reseal,
  };

  async function keepHouse(): Promise<void> {
    while (!stopping.signal.aborted) {
      for (const [chore, part] of Object.entries(chores)) {
        try {
          let rows = 0;
          for (let done = -1; done !== 0 && !stopping.signal.aborted; rows += done) done = await part();
          if (rows > 0) logger.info({ chore, rows }, 'housekeeping');
        } catch (error) {
          logger.warn({ chore, err: error }, 'a chore of housekeeping was put off');
        }
      }
      await delay(PAUSE_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }
  const done = keepHouse();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Clears some rows of the application that was deleted first. @returns how many; 0 when no application is left to clear */
export async function clearDeletedApplication(services: Services): Promise<number> {
  const { applications, events, licenses, variables, files, users, statistics, webhooks } = services;
  const appId = await applications.nextDeleted();
  if (appId === undefined) return 0;
  // Licences refer to the users who redeemed them.
  for (const part of [webhooks, licenses, variables, files, users, statistics, events]) {
    const cleared = await part.clearOf(appId);
    if (cleared > 0) return cleared;
  }
  await applications.forget(appId);
  return 1;
}
