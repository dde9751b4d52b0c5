import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changeStatus,
  LIFETIME,
  subscriptionClock,
  toWallTime,
} from '../../src/accounts/applications/application-state.ts';
import {
  addGrant,
  moveGrant,
  timeLeft,
  type Grant,
  type TransferResult,
  type SubscriptionPeriod,
} from '../../src/licensing/subscriptions/subscription-state.ts';
import { DAY } from '../support/clock.ts';

const TIERS = ['Standard', 'Pro', 'VIP'];
const NOW = new Date('2026-11-21T10:00:00.000Z');
const days = (count: number) => new Date(NOW.getTime() + count * DAY);

function grantAll(
  grants: readonly Grant[],
  clock = NOW,
  start: SubscriptionPeriod[] = [],
): SubscriptionPeriod[] {
  return grants.reduce((timeline, grant) => addGrant(timeline, grant, TIERS, clock) ?? timeline, start);
}

describe('adding a grant', () => {
  test('the same tier is extended from its end', () => {
    const timeline = grantAll([
      { tier: 'Pro', durationDays: 30 },
      { tier: 'Pro', durationDays: 10 },
    ]);
    expect(timeline).toEqual([{ tier: 'Pro', starts_at: NOW, ends_at: days(40) }]);
  });

  test('an expired tier is extended from now', () => {
    const expired = [{ tier: 'Pro', starts_at: days(-40), ends_at: days(-10) }];
    expect(grantAll([{ tier: 'Pro', durationDays: 5 }], NOW, expired)).toEqual([
      { tier: 'Pro', starts_at: NOW, ends_at: days(5) },
    ]);
  });

  test('a higher tier starts now and the rest of the lower one resumes after it', () => {
    const running = [{ tier: 'Standard', starts_at: days(-10), ends_at: days(20) }];
    expect(grantAll([{ tier: 'VIP', durationDays: 7 }], NOW, running)).toEqual([
      { tier: 'VIP', starts_at: NOW, ends_at: days(7) },
      { tier: 'Standard', starts_at: days(7), ends_at: days(27) },
    ]);
  });

  test('a lower tier waits for the higher ones', () => {
    const timeline = grantAll([
      { tier: 'VIP', durationDays: 7 },
      { tier: 'Standard', durationDays: 30 },
      { tier: 'Pro', durationDays: 10 },
    ]);
    expect(timeline.map(({ tier, ends_at }) => [tier, ends_at])).toEqual([
      ['VIP', days(7)],
      ['Pro', days(17)],
      ['Standard', days(47)],
    ]);
  });

  test('a lifetime ends with the year 9999, and grants that add nothing to it are refused', () => {
    const timeline = grantAll([{ tier: 'Pro', durationDays: null }]);
    expect(timeline).toEqual([{ tier: 'Pro', starts_at: NOW, ends_at: LIFETIME }]);
    for (const tier of ['Standard', 'Pro']) {
      for (const durationDays of [1, null])
        expect(addGrant(timeline, { tier, durationDays }, TIERS, NOW)).toBeUndefined();
    }
    expect(addGrant(timeline, { tier: 'VIP', durationDays: 1 }, TIERS, NOW)).toEqual([
      { tier: 'VIP', starts_at: NOW, ends_at: days(1) },
      { tier: 'Pro', starts_at: days(1), ends_at: LIFETIME },
    ]);
  });

  test('a lifetime replaces a timed period of its tier', () => {
    const timeline = grantAll([
      { tier: 'Pro', durationDays: 30 },
      { tier: 'Pro', durationDays: null },
    ]);
    expect(timeline).toEqual([{ tier: 'Pro', starts_at: NOW, ends_at: LIFETIME }]);
  });

  test('a removed tier ranks below all others', () => {
    const timeline = grantAll([
      { tier: 'Gone', durationDays: 3 },
      { tier: 'Standard', durationDays: 2 },
    ]);
    expect(timeline.map(({ tier }) => tier)).toEqual(['Standard', 'Gone']);
  });

  test('in any order, there are no gaps, the highest tier is first, and no day is lost or added', () => {
    const grant = fc.record({
      tier: fc.constantFrom(...TIERS),
      durationDays: fc.integer({ min: 1, max: 3650 }),
    });
    const step = fc.record({ grant, after: fc.integer({ min: 0, max: 100 * DAY }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        let clock = NOW;
        let timeline: SubscriptionPeriod[] = [];
        let end = NOW.getTime();
        for (const { grant: added, after } of steps) {
          clock = new Date(clock.getTime() + after);
          timeline = addGrant(timeline, added, TIERS, clock)!;
          end = Math.max(end, clock.getTime()) + added.durationDays * DAY;
          expect(timeline[0]!.starts_at).toEqual(clock);
          expect(timeline.at(-1)!.ends_at.getTime()).toBe(end);
          timeline.slice(1).forEach((period, index) => {
            expect(period.starts_at).toEqual(timeline[index]!.ends_at);
            expect(TIERS.indexOf(period.tier)).toBeLessThan(TIERS.indexOf(timeline[index]!.tier));
          });
        }
      }),
    );
  });
});

describe('moving a grant', () => {
  const pro = (durationDays: number | null): Grant => ({ tier: 'Pro', durationDays });
  const move = (from: SubscriptionPeriod[], to: SubscriptionPeriod[], grant: Grant, clock = NOW) =>
    moveGrant(from, to, grant, TIERS, clock) as TransferResult;

  test('moves its days after those of the other user', () => {
    const from = grantAll([pro(30), pro(10)]);
    const to = grantAll([pro(5), { tier: 'VIP', durationDays: 1 }]);
    const moved = move(from, to, pro(10));
    expect(moved.from).toEqual([{ tier: 'Pro', starts_at: NOW, ends_at: days(30) }]);
    expect(moved.to).toEqual([
      { tier: 'VIP', starts_at: NOW, ends_at: days(1) },
      { tier: 'Pro', starts_at: days(1), ends_at: days(16) },
    ]);
  });

  test('moves the rest of its days, and the next period starts', () => {
    const from = grantAll([pro(30), { tier: 'Standard', durationDays: 7 }]);
    const moved = move(from, [], pro(30), days(20));
    expect(moved.from).toEqual([{ tier: 'Standard', starts_at: days(20), ends_at: days(27) }]);
    expect(moved.to).toEqual([{ tier: 'Pro', starts_at: days(20), ends_at: days(30) }]);
  });

  test('moves a lifetime as a lifetime', () => {
    const from = grantAll([pro(null), { tier: 'VIP', durationDays: 7 }]);
    const moved = move(from, grantAll([pro(3)]), pro(null));
    expect(moved.from).toEqual([{ tier: 'VIP', starts_at: NOW, ends_at: days(7) }]);
    expect(moved.to).toEqual([{ tier: 'Pro', starts_at: NOW, ends_at: LIFETIME }]);
  });

  test('moves nothing if it has ended, never existed or is part of a lifetime', () => {
    expect(move(grantAll([pro(30)]), [], pro(30), days(30))).toBe('nothing');
    expect(move([], [], pro(30))).toBe('nothing');
    expect(move(grantAll([pro(30), pro(null)]), [], pro(30))).toBe('nothing');
    expect(move(grantAll([{ tier: 'VIP', durationDays: 7 }]), [], pro(7))).toBe('nothing');
  });

  test('is refused if it would add nothing', () => {
    const from = grantAll([pro(30)]);
    expect(move(from, grantAll([pro(null)]), pro(30))).toBe('refused');
    expect(move(from, grantAll([{ tier: 'VIP', durationDays: null }]), pro(30))).toBe('refused');
    const full = [{ tier: 'Standard', starts_at: NOW, ends_at: new Date(LIFETIME.getTime() - 1) }];
    expect(move(from, full, pro(30))).toBe('refused');
  });

  test('neither loses nor adds time', () => {
    const grant = fc.record({
      tier: fc.constantFrom(...TIERS),
      durationDays: fc.integer({ min: 1, max: 900 }),
    });
    const grants = fc.array(grant, { maxLength: 5 });
    const after = fc.integer({ min: 0, max: 1000 * DAY });
    fc.assert(
      fc.property(grants, grants, grant, after, (given, others, moving, ms) => {
        const [from, to] = [grantAll([...given, moving]), grantAll(others)];
        const clock = new Date(NOW.getTime() + ms);
        const moved = moveGrant(from, to, moving, TIERS, clock);
        if (moved === 'nothing') return void expect(timeLeft(from, moving.tier, clock)).toBe(0);
        if (moved === 'refused') throw new Error('no user has a lifetime');
        for (const tier of TIERS) {
          const sum = (...timelines: SubscriptionPeriod[][]) =>
            timelines.reduce((total, timeline) => total + timeLeft(timeline, tier, clock), 0);
          expect(sum(moved.from, moved.to)).toBe(sum(from, to));
        }
        const gone = timeLeft(from, moving.tier, clock) - timeLeft(moved.from, moving.tier, clock);
        expect(gone).toBeGreaterThan(0);
        expect(gone).toBeLessThanOrEqual(moving.durationDays * DAY);
      }),
    );
  });
});

describe('the subscription clock', () => {
  const active = { status: 'active', pausedAt: null, pausedTotalMs: 0 } as const;

  test('stops during a pause, and a resume shifts all ends', () => {
    const paused = changeStatus(active, 'paused', NOW);
    expect(subscriptionClock(paused, days(5))).toEqual(NOW);
    expect(toWallTime(days(30), paused, days(5))).toEqual(days(35));
    const resumed = changeStatus(paused, 'active', days(5));
    expect(subscriptionClock(resumed, days(6))).toEqual(days(1));
    expect(toWallTime(days(30), resumed, days(6))).toEqual(days(35));
  });

  test('a repeated pause has no effect', () => {
    const paused = changeStatus(active, 'paused', NOW);
    expect(changeStatus(paused, 'paused', days(3))).toEqual(paused);
  });

  test('disabling ends the pause and keeps the shift', () => {
    const disabled = changeStatus(changeStatus(active, 'paused', NOW), 'disabled', days(2));
    expect(disabled).toEqual({ status: 'disabled', pausedAt: null, pausedTotalMs: 2 * DAY });
  });

  test('a lifetime is not shifted', () => {
    const paused = changeStatus(active, 'paused', NOW);
    expect(toWallTime(LIFETIME, paused, days(500))).toEqual(LIFETIME);
    expect(toWallTime(new Date(LIFETIME.getTime() - 1), paused, days(500))).toEqual(LIFETIME);
  });
});
