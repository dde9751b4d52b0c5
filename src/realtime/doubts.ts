import pLimit from 'p-limit';
import type { Bans } from '../bans/bans.ts';
import { ApiError } from '../errors/api-error.ts';
import type { PublishedEvent } from '../events/events.ts';
import { isWithin } from '../platform/address.ts';
import type { Logger } from '../platform/logger.ts';
import { repeatedly } from '../platform/repeatedly.ts';
import type { Sessions, Verification } from '../sessions/sessions.ts';
import type { Listeners, SessionListener } from './listeners.ts';

const CHECKED_AT_ONCE = 64;
const CHECKS_AT_A_TIME = 8;
/** Switches that may shut out a session that was let in before. */
const SWITCHES = ['pause_sessions', 'require_subscription', 'block_vpn', 'vpn_fail_closed'];

interface Dependencies {
  readonly listeners: Listeners;
  readonly bans: Pick<Bans, 'find'>;
  readonly sessions: Pick<Sessions, 'recheck'>;
  /** Shuts out a listener whose session may not go on. */
  readonly refuse: (listener: SessionListener, code: string) => void;
  readonly logger: Logger;
}

/** Asks the database anew about sessions that listen, when something has happened that may shut them out. */
export interface Doubts {
  /** Takes an event that may raise doubts. */
  note(event: PublishedEvent): void;
  /** Takes the time: a subscription that has ended by now raises doubts about its user's sessions. */
  noteTime(now: Date): void;
  start(): { stop(): Promise<void> };
}

export function createDoubts({ listeners, bans, sessions, refuse, logger }: Dependencies): Doubts {
  const newBans = new Map<string, string>();
  const doubted = new Set<SessionListener>();
  /** What those had who were asked about; the others still have what they came with. */
  const subscriptions = new WeakMap<SessionListener, Verification['subscription']>();
  let wake = () => {};

  /** Of all who listen, only those whom a ban hits are asked about. */
  async function findHit(): Promise<void> {
    for (const [banId, appId] of [...newBans]) {
      const banned = await bans.find(appId, banId);
      newBans.delete(banId);
      for (const listener of listeners.sessionsOf(appId)) {
        const { session, client } = listener;
        const hit =
          (banned?.kind === 'hardware' && banned.hwidDigest.equals(session.hwidDigest)) ||
          (banned?.kind === 'network' && isWithin(banned.network, client.address));
        if (hit) doubted.add(listener);
      }
    }
  }

  async function check(listener: SessionListener): Promise<void> {
    let subscription: Verification['subscription'] = { status: 'none' };
    try {
      ({ subscription } = await sessions.recheck(listener.session.sessionDigest, listener.client));
    } catch (error) {
      // Only an answer is one: while the database is away, the doubt stays.
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      // A session or an application that has ended has an event of its own on its way.
      if (error.status === 403) refuse(listener, error.code);
    }
    subscriptions.set(listener, subscription);
    doubted.delete(listener);
  }

  async function work(): Promise<boolean> {
    await findHit();
    const limit = pLimit(CHECKS_AT_A_TIME);
    const some = [...doubted].slice(0, CHECKED_AT_ONCE);
    await Promise.all(some.map((listener) => limit(() => check(listener))));
    return doubted.size > 0;
  }

  return {
    note({ type, appId, userId, data }) {
      if (listeners.sessionsOf(appId).length === 0) return;
      const changed = (data['changed'] ?? []) as readonly string[];
      if (type === 'ban.created') newBans.set(String(data['ban_id']), appId);
      else if (
        type === 'application.paused' ||
        (type.startsWith('application.') && changed.some((name) => SWITCHES.includes(name)))
      ) {
        for (const listener of listeners.sessionsOf(appId)) doubted.add(listener);
      } else if (type === 'user.subscription_reduced' && userId !== null) {
        for (const listener of listeners.sessionsOfUser(appId, userId)) doubted.add(listener);
      } else return;
      wake();
    },

    noteTime(now) {
      let ended = false;
      for (const listener of listeners.sessions()) {
        const subscription = subscriptions.get(listener) ?? listener.session.subscription;
        if (subscription.status !== 'active' || subscription.expiresAt > now) continue;
        doubted.add(listener);
        ended = true;
      }
      if (ended) wake();
    },

    start() {
      const working = repeatedly(work, (error) =>
        logger.debug({ err: error }, 'a check of listening sessions was put off'),
      );
      wake = () => working.wake();
      return working;
    },
  };
}
