import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInForce, isReversed, unitsDue, type Reversal } from '../../src/commerce/billing/billing-state.ts';
import { endOfPeriod } from '../../src/platform/calendar-state.ts';
import { choosePlan } from '../../src/accounts/plans/plan-state.ts';

const amounts = fc.integer({ min: 1, max: 999_999_999_999_999 });
const of = (refunded_minor: number, dispute: Reversal['dispute'] = null): Reversal => ({
  refunded_minor,
  dispute,
});

describe('the units due of a pack', () => {
  test.each<[number, number, Reversal, number]>([
    [10, 1000, of(0), 10],
    [10, 1000, of(1), 10],
    [10, 1000, of(99), 10],
    [10, 1000, of(100), 9],
    [10, 1000, of(999), 1],
    [10, 1000, of(1000), 0],
    [10, 1000, of(2000), 0],
    [10, 1000, of(0, 'open'), 0],
    [10, 1000, of(0, 'lost'), 0],
    [10, 1000, of(0, 'won'), 10],
    [10, 1000, of(500, 'won'), 5],
    [1, 999_999_999_999_999, of(999_999_999_999_998), 1],
    [999_999_999_999_999, 3, of(1), 666_666_666_666_666],
  ])('of %d for %d after %j: %d', (units, amount, reversal, due) => {
    expect(unitsDue(units, amount, reversal)).toBe(due);
  });

  test('decrease with the refunded amount, from all to none', () => {
    fc.assert(
      fc.property(amounts, amounts, fc.nat(), fc.nat(), (units, amount, one, other) => {
        const [less, more] = [one % (amount + 1), other % (amount + 1)].sort((a, b) => a - b) as [
          number,
          number,
        ];
        const due = unitsDue(units, amount, of(less));
        expect(due).toBeGreaterThanOrEqual(unitsDue(units, amount, of(more)));
        expect(due).toBeLessThanOrEqual(units);
        expect(unitsDue(units, amount, of(0))).toBe(units);
        expect(unitsDue(units, amount, of(amount))).toBe(0);
      }),
    );
  });
});

test('a payment of zero is never refunded', () => {
  expect(isReversed(0, of(0))).toBe(false);
  expect(isReversed(0, of(0, 'open'))).toBe(true);
});

test.each([
  ['active', true, false, true],
  ['past_due', true, false, true],
  ['pending', true, false, false],
  ['ended', true, false, false],
  ['active', false, false, false],
  ['active', true, true, false],
] as const)('%s, paid %s, reversed %s: in force %s', (state, paid, reversed, expected) => {
  expect(isInForce({ state, paid, reversed })).toBe(expected);
});

test.each([
  ['2026-01-31T10:00:00.000Z', 'monthly', '2026-02-28T10:00:00.000Z'],
  ['2028-01-31T10:00:00.000Z', 'monthly', '2028-02-29T10:00:00.000Z'],
  ['2026-12-31T23:59:59.999Z', 'monthly', '2027-01-31T23:59:59.999Z'],
  ['2026-11-21T10:00:00.000Z', 'monthly', '2026-12-21T10:00:00.000Z'],
  ['2028-02-29T00:00:00.000Z', 'yearly', '2029-02-28T00:00:00.000Z'],
] as const)('a period from %s, %s, ends %s', (start, period, end) => {
  expect(endOfPeriod(new Date(start), period, 1)).toEqual(new Date(end));
});

describe('the plan chosen by its name', () => {
  const [monthly, yearly, once] = (['monthly', 'yearly', 'lifetime'] as const).map((period) => ({
    period,
    kind: 'subscription',
  }));
  const pack = { period: 'lifetime', kind: 'license_quota' };

  test.each([
    [undefined, [yearly, once, monthly], monthly],
    [undefined, [yearly, once], once],
    [undefined, [yearly], yearly],
    ['yearly', [monthly, yearly], yearly],
    ['yearly', [monthly], undefined],
    ['monthly', [once], undefined],
    ['monthly', [pack], pack],
    [undefined, [pack], pack],
    [undefined, [], undefined],
  ] as const)('with period %s', (period, plans, expected) => {
    expect(choosePlan(plans as never, period)).toBe(expected);
  });
});
