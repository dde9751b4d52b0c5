import type { Banned, Bans } from '../../licensing/bans/bans.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { PublishedEvent } from '../../foundation/events/events.ts';
import { isWithin } from '../../platform/address.ts';
import type { Logger } from '../../platform/logger.ts';
import { createCooperativeYield } from '../../platform/cooperative-yield.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';
import { createForEachInChunks } from '../../platform/chunks.ts';
import type { Sessions, Verification } from '../../licensing/sessions/sessions.ts';
import type { Listeners, SessionListener } from './listeners.ts';

/** How many sessions one statement checks. */
export const BATCH_SIZE = 250;
/** How long an event may wait for the checks of its listeners: it delays the events after it. */
const DELIVERY_TIMEOUT_MS = 500;
const FAILED = 'a recheck of connected sessions failed and is repeated';
/** Settings of an application that may exclude a session that was valid before. */
const RESTRICTIVE_SETTINGS = ['pause_sessions', 'require_subscription', 'block_vpn', 'vpn_fail_closed'];

interface Dependencies {
  readonly listeners: Listeners;
  readonly bans: Pick<Bans, 'find'>;
  readonly sessions: Pick<Sessions, 'recheckAll'>;
  /** Disconnects a listener whose session is no longer allowed. */
  readonly refuse: (listener: SessionListener, code: string) => void;
  readonly logger: Logger;
}

/** Checks connected sessions again in the database after events that may exclude them. */
export interface SessionRechecks {
  /** Schedules rechecks of sessions that an event may exclude although it is not delivered to them. */
  schedule(event: PublishedEvent): void;
  /** Whether an event may exclude all sessions of its application. */
  affectsAll(event: PublishedEvent): boolean;
  /** Schedules rechecks of all sessions of the event's application. Call it after the event's delivery. */
  scheduleAll(event: PublishedEvent): void;
  /**
   * Delivers an event to sessions that it may exclude, each together with the refusal if it does: one write to the
   * connection instead of two. If the database is unavailable or slow, the event is delivered at once and the rechecks
   * follow later.
   */
  deliverAndRecheck(
    recipients: readonly SessionListener[],
    deliver: (listener: SessionListener) => void,
  ): Promise<void>;
  /** Schedules rechecks of sessions whose subscription has ended by now. */
  scheduleExpired(now: Date): void;
  start(): { stop(): Promise<void> };
}

export function createSessionRechecks(deps: Dependencies): SessionRechecks {
  const { listeners, bans, sessions, refuse, logger } = deps;
  const newBans = new Map<string, string>();
  const scheduled = new Set<SessionListener>();
  /** As of the latest recheck; a session without one has the subscription that it connected with. */
  const subscriptions = new WeakMap<SessionListener, Verification['subscription']>();
  const forEachInChunks = createForEachInChunks();
  let wake = () => {};
  let isStopped = false;

  /** Schedules rechecks of the listeners that a new ban matches. */
  async function scheduleBanned(): Promise<void> {
    for (const [banId, appId] of [...newBans]) {
      const banned = await bans.find(appId, banId);
      newBans.delete(banId);
      if (banned && banned.kind !== 'user') await scheduleMatching(appId, banned);
    }
  }

  async function scheduleMatching(
    appId: string,
    banned: Exclude<Banned, { readonly kind: 'user' }>,
  ): Promise<void> {
    const yieldIfDue = createCooperativeYield();
    // Many clients may share an address.
    const results = new Map<string, boolean>();
    const isMatch = ({ session, client: { address } }: SessionListener): boolean => {
      if (banned.kind === 'hardware') return banned.hwidDigest.equals(session.hwidDigest);
      const result = results.get(address) ?? isWithin(banned.network, address);
      results.set(address, result);
      return result;
    };
    for (const listener of listeners.sessionsOf(appId)) {
      if (isMatch(listener)) scheduled.add(listener);
      await yieldIfDue();
    }
  }

  /** If this fails, the rechecks stay scheduled. */
  async function recheck(batch: readonly SessionListener[]) {
    if (batch.length === 0) return [];
    // The statement does not see what happens from here on: that schedules another recheck.
    for (const listener of batch) scheduled.delete(listener);
    const connected = batch.map(({ session, client }) => ({ sessionDigest: session.sessionDigest, client }));
    return sessions.recheckAll(connected).catch((error: unknown) => {
      for (const listener of batch) scheduled.add(listener);
      throw error;
    });
  }

  function apply(listener: SessionListener, outcome: Verification | ApiError): void {
    const isError = outcome instanceof ApiError;
    subscriptions.set(listener, isError ? { status: 'none' } : outcome.subscription);
    // The end of a session or an application has an event of its own, which follows.
    if (isError && outcome.status === 403) refuse(listener, outcome.code);
  }

  /**
   * Rechecks batch after batch. The next batch is queried while the outcomes of the previous one are delivered.
   * @param timeout resolves when it must end without the outstanding outcomes
   */
  async function recheckBatches(
    nextBatch: () => readonly SessionListener[],
    deliver: (listener: SessionListener) => void = () => {},
    timeout: Promise<undefined> = new Promise(() => {}),
  ): Promise<void> {
    let batch = nextBatch();
    let querying = recheck(batch);
    while (batch.length > 0) {
      const outcomes = await Promise.race([querying, timeout]);
      if (!outcomes) return;
      const following = nextBatch();
      querying = recheck(following);
      // It is awaited above, perhaps only after it has failed.
      querying.catch(() => {});
      await forEachInChunks(batch, (listener, index) => {
        deliver(listener);
        apply(listener, outcomes[index]!);
      });
      batch = following;
    }
  }

  /** A new ban interrupts the batches, and so does the end of the service. */
  async function work(): Promise<boolean> {
    await scheduleBanned();
    await recheckBatches(() => (newBans.size > 0 || isStopped ? [] : [...take(scheduled, BATCH_SIZE)]));
    return !isStopped && (newBans.size > 0 || scheduled.size > 0);
  }

  function scheduleListeners(some: Iterable<SessionListener>): void {
    for (const listener of some) scheduled.add(listener);
    wake();
  }

  return {
    schedule({ type, appId, userId, data }) {
      if (type === 'ban.created' && listeners.sessionsOf(appId).length > 0) {
        newBans.set(String(data['ban_id']), appId);
        wake();
      } else if (type === 'user.subscription_reduced' && userId !== null) {
        scheduleListeners(listeners.sessionsOfUser(appId, userId));
      }
    },

    affectsAll({ type, data }) {
      if (!type.startsWith('application.')) return false;
      const { changed = [] } = data;
      // Damaged data may hide any change.
      if (type === 'application.paused' || !Array.isArray(changed)) return true;
      return changed.some((name) => RESTRICTIVE_SETTINGS.includes(name));
    },

    scheduleAll: ({ appId }) => scheduleListeners(listeners.sessionsOf(appId)),

    async deliverAndRecheck(recipients, deliver) {
      let queried = 0;
      let delivered = 0;
      const deliverNext = (listener: SessionListener) => {
        delivered += 1;
        deliver(listener);
      };
      const { promise: timeout, resolve: endWait } = Promise.withResolvers<undefined>();
      const timer = setTimeout(endWait, DELIVERY_TIMEOUT_MS, undefined);
      let unchecked: readonly SessionListener[];
      try {
        await recheckBatches(() => recipients.slice(queried, (queried += BATCH_SIZE)), deliverNext, timeout);
        unchecked = recipients.slice(delivered);
      } catch (error) {
        logger.debug({ err: error }, FAILED);
        // Those of the failed query are scheduled again already.
        unchecked = recipients.slice(queried);
      }
      clearTimeout(timer);
      await forEachInChunks(recipients.slice(delivered), deliver);
      scheduleListeners(unchecked);
    },

    scheduleExpired(now) {
      const expired: SessionListener[] = [];
      for (const listener of listeners.sessions()) {
        const subscription = subscriptions.get(listener) ?? listener.session.subscription;
        if (subscription.status !== 'active' || subscription.expiresAt > now) continue;
        expired.push(listener);
      }
      if (expired.length > 0) scheduleListeners(expired);
    },

    start() {
      const task = startPeriodicTask(work, (error) => logger.debug({ err: error }, FAILED));
      wake = () => task.wake();
      return {
        stop() {
          isStopped = true;
          return task.stop();
        },
      };
    },
  };
}

function* take<Member>(members: Iterable<Member>, limit: number): Generator<Member> {
  let taken = 0;
  for (const member of members) {
    if (taken === limit) return;
    taken += 1;
    yield member;
  }
}
