import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';
import { isRowFault } from '../platform/row-fault.ts';
import type { Services } from '../services.ts';

const PAUSE_MS = 60_000;

/**
 * Clears rows away that nobody needs any more, so that no table grows for ever. One part is cleared after the other: each chore
 * that has something left does a part of it in its turn. One that has nothing left, or fails, has its next turn when the pause
 * is over, however long another goes on.
 * @param pauseMs a minute unless told
 * @returns stops it, when the part that is being cleared is done
 */
export function startHousekeeping(
  services: Services,
  logger: Logger,
  pauseMs = PAUSE_MS,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const chores = {
    'expired sessions': services.sessions.clearExpired,
    'expired developer sessions': services.developers.clearExpired,
    'expired links to new passwords': services.developerPasswords.clearExpired,
    'expired API tokens': services.apiTokens.clearExpired,
    'expired access tokens': services.accessTokens.clearExpired,
    'what the authorization server need not remember': services.authorizations.clearExpired,
    'clients that registered themselves and are not used': services.oauthClients.clearUnused,
    'agents that nobody has claimed, and expired credentials': services.agents.clearExpired,
    'signing keys to rotate': services.signingKeys.maintain,
    'answers of repeated requests': services.idempotency.clearExpired,
    'expired agent tokens and old payments of machines': services.machinePayments.clearExpired,
    'nonces whose days are over': services.signatures.clearExpired,
    'events whose days are over': services.events.clearExpired,
    'old deliveries of webhooks': services.webhooks.clearExpired,
    'windows of rate limits': services.limits.clearExpired,
    'old notices of payments': services.settlement.clearExpired,
    'checkouts that were never paid': services.checkouts.clearExpired,
    'payments without a notice': services.reconciliation.run,
    'subscriptions to end': services.planSubscriptions.endUnwanted,
    'contents of no file': services.files.clearContents,
    'mails that are old files': services.mails.clearOld,
    'mails that could not be sent': services.mails.maintainFailed,
    'lost nodes': services.cluster.clearLost,
    'networks of VPNs and proxies': services.vpn.refresh,
    'secrets from before a rotation': services.applications.clearPreviousSecrets,
    'webhook secrets from before a rotation': services.webhooks.clearPreviousSecrets,
    'deleted applications': () => clearDeletedApplication(services),
    'secrets under an old master key': services.applications.reseal,
    'licence keys under an old master key': services.licenses.reseal,
    'session ids under an old master key': services.sessions.reseal,
    'webhook secrets under an old master key': services.webhooks.reseal,
    'signing keys under an old master key': services.signingKeys.reseal,
    'client secrets under an old master key': services.oauthClients.reseal,
    'receivers of security events under an old master key': services.securityEvents.reseal,
    'answers of repeated requests under an old master key': services.idempotency.reseal,
    'mails that wait under an old master key': services.mails.reseal,
    'mails that could not be sent under an old master key': services.mails.resealFailed,
  };

  /** What chores have cleared that are not at their end. */
  const cleared = new Map<string, number>();

  function logCleared(chore: string): void {
    const rows = cleared.get(chore);
    cleared.delete(chore);
    if (rows !== undefined) logger.info({ chore, rows }, 'housekeeping');
  }

  /** @returns whether there may be more to do */
  async function runChore([chore, part]: [string, () => Promise<number>]): Promise<boolean> {
    try {
      const rows = await part();
      if (rows > 0) {
        cleared.set(chore, (cleared.get(chore) ?? 0) + rows);
        return true;
      }
    } catch (error) {
      logger.warn({ chore, err: error }, 'a chore of housekeeping was put off');
    }
    logCleared(chore);
    return false;
  }

  async function run(): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      let isOver = false;
      const pause = delay(pauseMs, undefined, { signal, ref: false })
        .catch(() => {})
        .then(() => (isOver = true));
      for (let due = Object.entries(chores); due.length > 0 && !isOver;) {
        const unfinished: typeof due = [];
        for (const chore of due) {
          if (!signal.aborted && (await runChore(chore))) unfinished.push(chore);
        }
        due = unfinished;
      }
      await pause;
    }
    for (const chore of cleared.keys()) logCleared(chore);
  }
  const done = run();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/**
 * Clears some rows of the application that was deleted first; of the next one, where something is wrong with the rows of that.
 * @returns how many; 0 when no application is left to clear
 * @throws what was wrong, when nothing else is left to clear
 */
export async function clearDeletedApplication(services: Services): Promise<number> {
  const faults = new Map<string, unknown>();
  for (;;) {
    const appId = await services.applications.nextDeleted([...faults.keys()]);
    if (appId === undefined) break;
    try {
      return await clearApplication(services, appId);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      faults.set(appId, error);
    }
  }
  const [fault] = faults;
  if (fault) throw new Error(`the rows of ${fault[0]} cannot be cleared`, { cause: fault[1] });
  return 0;
}

async function clearApplication(
  { applications, events, licenses, variables, files, users, statistics, webhooks }: Services,
  appId: string,
): Promise<number> {
  // Licenses refer to the users who redeemed them.
  for (const part of [webhooks, licenses, variables, files, users, statistics, events]) {
    const cleared = await part.clearOf(appId);
    if (cleared > 0) return cleared;
  }
  await applications.forget(appId);
  return 1;
}
