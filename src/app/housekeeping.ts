import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';
import { isRowFault } from '../platform/row-fault.ts';
import type { Services } from '../services.ts';

const PAUSE_MS = 60_000;

/**
 * Deletes rows that are no longer needed, so that no table grows forever. Chores run one after the other, in rounds:
 * each processes one batch per round until it has none left. A chore that is finished or has failed runs again after
 * the pause, even if another one takes longer.
 * @param pauseMs a minute by default
 * @returns stops it once the current batch is done
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
    'expired browser sessions': services.browserSessions.clearExpired,
    'expired password reset links': services.developerPasswords.clearExpired,
    'expired API tokens': services.apiTokens.clearExpired,
    'expired access tokens': services.accessTokens.clearExpired,
    'expired records of the authorization server': services.authorizations.clearExpired,
    'unused clients that registered themselves': services.oauthClients.clearUnused,
    'unclaimed agents and expired credentials': services.agents.clearExpired,
    'signing keys to rotate': services.signingKeys.maintain,
    'responses of repeated requests': services.idempotency.clearExpired,
    'expired tokens and old payments of machines': services.machinePayments.clearExpired,
    'expired nonces': services.signatures.clearExpired,
    'expired events': services.events.clearExpired,
    'old webhook deliveries': services.webhooks.clearExpired,
    'windows of rate limits': services.limits.clearExpired,
    'old payment events': services.settlement.clearExpired,
    'unpaid checkouts': services.checkouts.clearExpired,
    'payments without an event': services.reconciliation.run,
    'subscriptions to end': services.planSubscriptions.endUnwanted,
    'contents without a file': services.files.clearContents,
    'old mail files': services.mails.clearOld,
    'failed mails': services.mails.maintainFailed,
    'changes of license counts': services.licenses.foldCounts,
    'changes of session counts': services.sessions.foldCounts,
    'hourly statistics and active users of past days': services.statistics.clearExpired,
    'lost nodes': services.cluster.clearLost,
    'networks of VPNs and proxies': services.vpn.refresh,
    'devices without a recent login': services.devices.clearUnused,
    'secrets from before a rotation': services.applications.clearPreviousSecrets,
    'webhook secrets from before a rotation': services.webhooks.clearPreviousSecrets,
    'deleted applications': () => clearDeletedApplication(services),
    'secrets under an old master key': services.applications.reseal,
    'keys of applications under an old master key': services.applicationKeys.reseal,
    'license keys under an old master key': services.licenses.reseal,
    'session ids under an old master key': services.sessions.reseal,
    'webhook secrets under an old master key': services.webhooks.reseal,
    'signing keys under an old master key': services.signingKeys.reseal,
    'client secrets under an old master key': services.oauthClients.reseal,
    'receivers of security events under an old master key': services.securityEvents.reseal,
    'responses of repeated requests under an old master key': services.idempotency.reseal,
    'waiting mails under an old master key': services.mails.reseal,
    'failed mails under an old master key': services.mails.resealFailed,
  };

  /** What unfinished chores have cleared so far. */
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
      logger.warn({ chore, err: error }, 'a housekeeping chore failed and will be retried');
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
 * Clears one batch of the application that was deleted first, or of the next one if the database refuses to delete its
 * rows.
 * @returns how many; 0 when no application is left to clear
 * @throws that error, when nothing else is left to clear
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
