import type { Banned, Bans } from '../bans/bans.ts';
import { ApiError } from '../errors/api-error.ts';
import type { PublishedEvent } from '../events/events.ts';
import { isWithin } from '../platform/address.ts';
import type { Logger } from '../platform/logger.ts';
import { createPace } from '../platform/pace.ts';
import { repeatedly } from '../platform/repeatedly.ts';
import type { Sessions, Verification } from '../sessions/sessions.ts';
import type { Listeners, SessionListener } from './listeners.ts';

/** Sessions that one statement asks about. */
export const CHECKED_AT_ONCE = 250;
/** Switches that may shut out a session that was let in before. */
const SWITCHES = ['pause_sessions', 'require_subscription', 'block_vpn', 'vpn_fail_closed'];

interface Dependencies {
  readonly listeners: Listeners;
  readonly bans: Pick<Bans, 'find'>;
  readonly sessions: Pick<Sessions, 'recheckAll'>;
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
      if (banned && banned.kind !== 'user') await noteHit(appId, banned);
    }
  }

  async function noteHit(appId: string, banned: Exclude<Banned, { readonly kind: 'user' }>): Promise<void> {
    const pace = createPace();
    // Many clients may share an address.
    const within = new Map<string, boolean>();
    const isHit = ({ session, client: { address } }: SessionListener): boolean => {
      if (banned.kind === 'hardware') return banned.hwidDigest.equals(session.hwidDigest);
      const known = within.get(address) ?? isWithin(banned.network, address);
      within.set(address, known);
      return known;
    };
    for (const listener of listeners.sessionsOf(appId)) {
      if (isHit(listener)) doubted.add(listener);
      await pace();
    }
  }

  /** While the database is away this fails, and the doubts stay. */
  async function check(some: readonly SessionListener[]): Promise<void> {
    // What raises a doubt from here on is not known to the statement below.
    for (const listener of some) doubted.delete(listener);
    const outcomes = await sessions
      .recheckAll(some.map(({ session, client }) => ({ sessionDigest: session.sessionDigest, client })))
      .catch((error: unknown) => {
        for (const listener of some) doubted.add(listener);
        throw error;
      });
    const pace = createPace();
    for (const [place, listener] of some.entries()) {
      const outcome = outcomes[place]!;
      const isError = outcome instanceof ApiError;
      subscriptions.set(listener, isError ? { status: 'none' } : outcome.subscription);
      // A session or an application that has ended has an event of its own on its way.
      if (isError && outcome.status === 403) refuse(listener, outcome.code);
      await pace();
    }
  }

  async function work(): Promise<boolean> {
    await findHit();
    const some = [...take(doubted, CHECKED_AT_ONCE)];
    if (some.length > 0) await check(some);
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

function* take<Member>(members: Iterable<Member>, atMost: number): Generator<Member> {
  let taken = 0;
  for (const member of members) {
    if (taken === atMost) return;
    taken += 1;
    yield member;
  }
}
