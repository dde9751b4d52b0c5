import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  DeadlineExceededError as DeadlineError,
  RequestScope as Scope,
} from '../../src/platform/request-scope.ts';

// A copy of its own: requests that an earlier file of this worker left open keep the shared one's timer running.
const path = '../../src/platform/request-scope.ts?own';
const { currentTenant, DeadlineExceededError, RequestScope } = (await import(
  path
)) as typeof import('../../src/platform/request-scope.ts');

const LIMIT_MS = 5_000;
/** The longest delay until a deadline is detected. */
const DETECTED_WITHIN_MS = 25;

const openScope = (limitMs = LIMIT_MS) => new RequestScope(limitMs, () => 'tenant');

function watch(scope: Scope): DeadlineError[] {
  const errors: DeadlineError[] = [];
  scope.onDeadline((error) => errors.push(error));
  return errors;
}

describe('RequestScope', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });

  afterEach(() => {
    // Scopes of one test must not remain open in the next one.
    vi.advanceTimersByTime(10 * LIMIT_MS);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('detects each deadline once, and none too early', () => {
    const first = watch(openScope());
    vi.advanceTimersByTime(1_000);
    const second = watch(openScope());
    vi.advanceTimersByTime(LIMIT_MS - 1_000 - DETECTED_WITHIN_MS);
    expect(first).toEqual([]);
    vi.advanceTimersByTime(2 * DETECTED_WITHIN_MS);
    expect(first).toEqual([expect.any(DeadlineExceededError)]);
    expect(second).toEqual([]);
    vi.advanceTimersByTime(LIMIT_MS);
    expect(first).toHaveLength(1);
    expect(second).toHaveLength(1);
  });

  it('fails at once after the deadline', () => {
    const scope = openScope();
    vi.advanceTimersByTime(LIMIT_MS + DETECTED_WITHIN_MS);
    expect(watch(scope)).toHaveLength(1);
    expect(scope.remainingMs).toBe(0);
    expect(() => scope.assertTime()).toThrow(DeadlineExceededError);
  });

  it('forgets a scope that is lifted, also when its place is taken by another one', () => {
    const lifted = openScope();
    const errors = watch(lifted);
    lifted.lift();
    const next = watch(openScope());
    lifted.lift();
    vi.advanceTimersByTime(LIMIT_MS + DETECTED_WITHIN_MS);
    expect(errors).toEqual([]);
    expect(next).toHaveLength(1);
  });

  it('counts another limit from the arrival', () => {
    const scope = openScope();
    const errors = watch(scope);
    vi.advanceTimersByTime(4_000);
    scope.limit(3 * LIMIT_MS);
    expect(scope.remainingMs).toBe(3 * LIMIT_MS - 4_000);
    vi.advanceTimersByTime(2 * LIMIT_MS);
    expect(errors).toEqual([]);
    vi.advanceTimersByTime(LIMIT_MS);
    expect(errors).toHaveLength(1);
  });

  it('does not count waits for the client, which may overlap', async () => {
    const scope = openScope();
    const errors = watch(scope);
    const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const waits = [scope.excluding(one.promise), scope.excluding(other.promise)];
    vi.advanceTimersByTime(2 * LIMIT_MS);
    one.resolve();
    await turn();
    vi.advanceTimersByTime(2 * LIMIT_MS);
    other.reject(new Error('gone'));
    await expect(waits[1]).rejects.toThrow('gone');
    expect(scope.remainingMs).toBe(LIMIT_MS);
    expect(errors).toEqual([]);
    vi.advanceTimersByTime(LIMIT_MS + DETECTED_WITHIN_MS);
    expect(errors).toHaveLength(1);
  });

  it('races work against the deadline', async () => {
    const scope = openScope();
    await expect(scope.race(Promise.resolve('done'))).resolves.toBe('done');
    const late = scope.race(new Promise(() => {}));
    vi.advanceTimersByTime(LIMIT_MS + DETECTED_WITHIN_MS);
    await expect(late).rejects.toThrow(DeadlineExceededError);
  });

  it('belongs to the work that it runs, wherever that continues', async () => {
    const scope = openScope();
    expect(currentTenant('own')).toBe('own');
    await scope.run(async () => {
      await turn();
      expect(RequestScope.current()).toBe(scope);
      expect(currentTenant('own')).toBe('tenant');
      scope.tenant = 'app';
      expect(currentTenant()).toBe('app');
      RequestScope.outside(() => expect(RequestScope.current()).toBeUndefined());
    });
    expect(RequestScope.current()).toBeUndefined();
  });
});
