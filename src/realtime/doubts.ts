import type { Banned, Bans } from '../bans/bans.ts';
import { ApiError } from '../errors/api-error.ts';
import type { PublishedEvent } from '../events/events.ts';
import { isWithin } from '../platform/address.ts';
import type { Logger } from '../platform/logger.ts';
import { createPace } from '../platform/pace.ts';
import { repeatedly } from '../platform/repeatedly.ts';
import { createSlices } from '../platform/slices.ts';
import type { Sessions, Verification } from '../sessions/sessions.ts';
import type { Listeners, SessionListener } from './listeners.ts';

/** Sessions that one statement asks about. */
export const CHECKED_AT_ONCE = 250;
/**
 * For how long an event may wait for what becomes of those whom it tells: longer would hold up the events behind it, and who
 * has not been told.
 */
const TOLD_WITHIN_MS = 500;
const PUT_OFF = 'a check of listening sessions was put off';
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
  /** Takes an event that may raise doubts about sessions other than those that it tells. */
  note(event: PublishedEvent): void;
  /** Whether an event raises doubts about all sessions of its application. */
  isAboutAll(event: PublishedEvent): boolean;
  /** Takes an event that raises doubts about all sessions of its application, when those whom it tells have been told. */
  noteAll(event: PublishedEvent): void;
  /**
   * Tells sessions of an event that raises doubts about them, each together with its refusal if it may not go on: one write to
   * its connection instead of two. While the database is away or slow they are told of the event, and the doubts stay.
   */
  tellAll(some: readonly SessionListener[], tell: (listener: SessionListener) => void): Promise<void>;
  /** Takes the time: a subscription that has ended by now raises doubts about its user's sessions. */
  noteTime(now: Date): void;
  start(): { stop(): Promise<void> };
}

export function createDoubts({ listeners, bans, sessions, refuse, logger }: Dependencies): Doubts {
  const newBans = new Map<string, string>();
  const doubted = new Set<SessionListener>();
  /** What those had who were asked about; the others still have what they came with. */
  const subscriptions = new WeakMap<SessionListener, Verification['subscription']>();
  const inSlices = createSlices();
  let wake = () => {};
  let isStopped = false;

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
  async function ask(some: readonly SessionListener[]) {
    if (some.length === 0) return [];
    // What raises a doubt from here on is not known to the statement below.
    for (const listener of some) doubted.delete(listener);
    const listening = some.map(({ session, client }) => ({ sessionDigest: session.sessionDigest, client }));
    return sessions.recheckAll(listening).catch((error: unknown) => {
      for (const listener of some) doubted.add(listener);
      throw error;
    });
  }

  function settle(listener: SessionListener, outcome: Verification | ApiError): void {
    const isError = outcome instanceof ApiError;
    subscriptions.set(listener, isError ? { status: 'none' } : outcome.subscription);
    // A session or an application that has ended has an event of its own on its way.
    if (isError && outcome.status === 403) refuse(listener, outcome.code);
  }

  /**
   * Asks about batch after batch, of each while the outcomes of the one before are handed out.
   * @param outOfTime resolves when it is to end without the outcomes that are still missing
   */
  async function check(
    nextBatch: () => readonly SessionListener[],
    tell: (listener: SessionListener) => void = () => {},
    outOfTime: Promise<undefined> = new Promise(() => {}),
  ): Promise<void> {
    let batch = nextBatch();
    let asking = ask(batch);
    while (batch.length > 0) {
      const outcomes = await Promise.race([asking, outOfTime]);
      if (!outcomes) return;
      const following = nextBatch();
      asking = ask(following);
      // Awaited above, but perhaps only after it has failed.
      asking.catch(() => {});
      await inSlices(batch, (listener, place) => {
        tell(listener);
        settle(listener, outcomes[place]!);
      });
      batch = following;
    }
  }

  /** A new ban is looked at between two batches, and a node that stops asks about no more of them. */
  async function work(): Promise<boolean> {
    await findHit();
    await check(() => (newBans.size > 0 || isStopped ? [] : [...take(doubted, CHECKED_AT_ONCE)]));
    return !isStopped && (newBans.size > 0 || doubted.size > 0);
  }

  function doubt(some: Iterable<SessionListener>): void {
    for (const listener of some) doubted.add(listener);
    wake();
  }

  return {
    note({ type, appId, userId, data }) {
      if (type === 'ban.created' && listeners.sessionsOf(appId).length > 0) {
        newBans.set(String(data['ban_id']), appId);
        wake();
      } else if (type === 'user.subscription_reduced' && userId !== null) {
        doubt(listeners.sessionsOfUser(appId, userId));
      }
    },

    isAboutAll({ type, data }) {
      if (!type.startsWith('application.')) return false;
      const { changed = [] } = data;
      // Of damaged data nothing is known.
      if (type === 'application.paused' || !Array.isArray(changed)) return true;
      return changed.some((name) => SWITCHES.includes(name));
    },

    noteAll: ({ appId }) => doubt(listeners.sessionsOf(appId)),

    async tellAll(some, tell) {
      let asked = 0;
      let told = 0;
      const tellNext = (listener: SessionListener) => {
        told += 1;
        tell(listener);
      };
      const { promise: outOfTime, resolve: endWait } = Promise.withResolvers<undefined>();
      const timer = setTimeout(endWait, TOLD_WITHIN_MS, undefined);
      let unknown: readonly SessionListener[];
      try {
        await check(() => some.slice(asked, (asked += CHECKED_AT_ONCE)), tellNext, outOfTime);
        unknown = some.slice(told);
      } catch (error) {
        logger.debug({ err: error }, PUT_OFF);
        // Those of the question that has failed are doubted again already.
        unknown = some.slice(asked);
      }
      clearTimeout(timer);
      await inSlices(some.slice(told), tell);
      doubt(unknown);
    },

    noteTime(now) {
      const ended: SessionListener[] = [];
      for (const listener of listeners.sessions()) {
        const subscription = subscriptions.get(listener) ?? listener.session.subscription;
        if (subscription.status !== 'active' || subscription.expiresAt > now) continue;
        ended.push(listener);
      }
      if (ended.length > 0) doubt(ended);
    },

    start() {
      const working = repeatedly(work, (error) => logger.debug({ err: error }, PUT_OFF));
      wake = () => working.wake();
      return {
        stop() {
          isStopped = true;
          return working.stop();
        },
      };
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
