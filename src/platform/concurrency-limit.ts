import { DeadlineExceededError, RequestScope } from './request-scope.ts';

/** The tenant, or anything else, that must not hold up others. */
export type LimitKey = string;

interface Settings {
  /** How many run at once. No limit by default. */
  readonly limit?: number;
  /** How many of one key run at once; the others are left for other keys. `limit` by default. */
  readonly limitPerKey?: number;
  /** How many of one key may wait. No limit by default; with 0, a key that has reached its limit is refused at once. */
  readonly queuePerKey?: number;
  /** How many may wait in total. No limit by default. */
  readonly queue?: number;
  /** How long one may wait, besides the deadline of its request. No limit by default. */
  readonly maxWaitMs?: number;
  /** Makes the error that refuses work because the key's queue or the whole queue is full, or the wait was too long. */
  readonly refusal: (reason: 'key' | 'total' | 'timeout') => Error;
}

/** Limits how much work runs at once and shares the capacity fairly between keys. */
export interface ConcurrencyLimit {
  /**
   * Runs work as soon as there is capacity. Waiting keys alternate, one piece of work each, so that no key waits for
   * the queue of another key.
   * @throws what `refusal` makes; DeadlineExceededError when the request's deadline passes first
   */
  run<Result>(key: LimitKey, work: () => Promise<Result>): Promise<Result>;
  /** Waits for a slot in the same way. @returns releases the slot; later calls have no effect */
  acquire(key: LimitKey): Promise<() => void>;
  /** Takes a slot without waiting. @returns releases the slot @throws what `refusal` makes when none is free */
  acquireNow(key: LimitKey): () => void;
  /** How many of a key run or wait; the totals without a key. */
  load(key?: LimitKey): { readonly running: number; readonly waiting: number };
}

interface Waiter {
  start(): void;
}

interface KeyState {
  running: number;
  readonly waiting: Set<Waiter>;
}

/** Creates a limit that is fair between keys. It keeps no state of keys that neither run nor wait. */
export function createConcurrencyLimit(settings: Settings): ConcurrencyLimit {
  const { limit = Infinity, limitPerKey = limit, queuePerKey = Infinity, queue = Infinity } = settings;
  const { maxWaitMs = Infinity, refusal } = settings;
  /** The key that has started work least recently comes first. */
  const keys = new Map<LimitKey, KeyState>();
  let running = 0;
  let waiting = 0;

  const stateOf = (key: LimitKey): KeyState => {
    const state = keys.get(key) ?? { running: 0, waiting: new Set() };
    keys.set(key, state);
    return state;
  };

  const hasCapacity = (state: KeyState) => running < limit && state.running < limitPerKey;

  function start(key: LimitKey, state: KeyState): () => void {
    running += 1;
    state.running += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      running -= 1;
      state.running -= 1;
      removeIdle(key, state);
      startNext();
    };
  }

  function removeIdle(key: LimitKey, state: KeyState): void {
    if (state.running === 0 && state.waiting.size === 0 && keys.get(key) === state) keys.delete(key);
  }

  /** The waiting key that runs the least; of several, the one that has started work least recently. */
  function findNext(): [LimitKey, KeyState] | undefined {
    let next: [LimitKey, KeyState] | undefined;
    for (const [key, state] of keys) {
      if (state.waiting.size === 0 || state.running >= limitPerKey) continue;
      if (!next || state.running < next[1].running) next = [key, state];
    }
    return next;
  }

  function startNext(): void {
    while (running < limit && waiting > 0) {
      const next = findNext();
      if (!next) return;
      const [key, state] = next;
      keys.delete(key);
      keys.set(key, state);
      const [waiter] = state.waiting;
      state.waiting.delete(waiter!);
      waiting -= 1;
      waiter!.start();
    }
  }

  function wait(key: LimitKey, state: KeyState): Promise<() => void> {
    if (state.waiting.size >= queuePerKey) throw refusal('key');
    if (waiting >= queue) throw refusal('total');
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const remainingMs = RequestScope.current()?.remainingMs ?? Infinity;
    const timeoutMs = Math.min(remainingMs, maxWaitMs);
    const waiter: Waiter = {
      start() {
        clearTimeout(timer);
        resolve(start(key, state));
      },
    };
    const giveUp = () => {
      state.waiting.delete(waiter);
      waiting -= 1;
      removeIdle(key, state);
      reject(remainingMs <= maxWaitMs ? new DeadlineExceededError() : refusal('timeout'));
    };
    const timer = timeoutMs === Infinity ? undefined : setTimeout(giveUp, Math.max(timeoutMs, 0));
    state.waiting.add(waiter);
    waiting += 1;
    return promise;
  }

  async function acquire(key: LimitKey): Promise<() => void> {
    RequestScope.current()?.assertTime();
    const state = stateOf(key);
    try {
      if (hasCapacity(state)) return start(key, state);
      return await wait(key, state);
    } finally {
      removeIdle(key, state);
    }
  }

  return {
    acquire,

    acquireNow(key) {
      const state = stateOf(key);
      if (hasCapacity(state)) return start(key, state);
      removeIdle(key, state);
      throw refusal(state.running >= limitPerKey ? 'key' : 'total');
    },

    async run(key, work) {
      const release = await acquire(key);
      try {
        return await work();
      } finally {
        release();
      }
    },

    load(key) {
      if (key === undefined) return { running, waiting };
      const state = keys.get(key);
      return { running: state?.running ?? 0, waiting: state?.waiting.size ?? 0 };
    },
  };
}
