import { DeadlineExceededError, RequestScope } from './request-scope.ts';

/** Who asks for what is limited: a tenant, or whatever else must not hold up others. */
export type LimitKey = string;

interface Settings {
  /** How many run at once. */
  readonly atOnce: number;
  /** How many of one key run at once; the rest is left to others. As many as `atOnce` unless told. */
  readonly ofOneAtOnce?: number;
  /** How many of one key may wait. Any number unless told. */
  readonly ofOneWaiting?: number;
  /** How many may wait in all. Any number unless told. */
  readonly waiting?: number;
  /** How long one may wait, beside the deadline of its request. Any time unless told. */
  readonly patienceMs?: number;
  /** What is thrown when too many wait, or one has waited too long. */
  readonly refusal: (why: 'own' | 'all' | 'patience') => Error;
}

/** Work of which a few pieces run at once, with an equal share for everybody who waits. */
export interface ConcurrencyLimit {
  /**
   * Runs work when it may begin: at once, or in the turn of its key. Keys take turns, one piece each, so no key waits for the
   * queue of another key.
   * @throws what `refusal` makes; DeadlineExceededError when the request's deadline passes first
   */
  run<Result>(key: LimitKey, work: () => Promise<Result>): Promise<Result>;
  /** Waits for a place in the same way. @returns gives the place back; calling it again does nothing */
  acquire(key: LimitKey): Promise<() => void>;
  /** How many of a key run or wait; of all when no key is given. */
  load(key?: LimitKey): { readonly running: number; readonly waiting: number };
}

interface Waiter {
  begin(): void;
}

interface Line {
  running: number;
  readonly waiting: Set<Waiter>;
}

/** A limit that is fair to keys. Lines of keys that neither run nor wait are forgotten. */
export function createConcurrencyLimit(settings: Settings): ConcurrencyLimit {
  const {
    atOnce,
    ofOneAtOnce = atOnce,
    ofOneWaiting = Infinity,
    waiting: ofAllWaiting = Infinity,
  } = settings;
  const { patienceMs = Infinity, refusal } = settings;
  /** In the order of their turns: whose work has begun goes to the end. */
  const lines = new Map<LimitKey, Line>();
  let running = 0;
  let waiting = 0;

  function begin(key: LimitKey, line: Line): () => void {
    running += 1;
    line.running += 1;
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      running -= 1;
      line.running -= 1;
      forget(key, line);
      beginNext();
    };
  }

  function forget(key: LimitKey, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0 && lines.get(key) === line) lines.delete(key);
  }

  /** Of those that may begin, the key with the least at work; of several, the one that has waited longest for its turn. */
  function findNext(): [LimitKey, Line] | undefined {
    let next: [LimitKey, Line] | undefined;
    for (const [key, line] of lines) {
      if (line.waiting.size === 0 || line.running >= ofOneAtOnce) continue;
      if (!next || line.running < next[1].running) next = [key, line];
    }
    return next;
  }

  function beginNext(): void {
    while (running < atOnce && waiting > 0) {
      const next = findNext();
      if (!next) return;
      const [key, line] = next;
      lines.delete(key);
      lines.set(key, line);
      const [waiter] = line.waiting;
      line.waiting.delete(waiter!);
      waiting -= 1;
      waiter!.begin();
    }
  }

  function wait(key: LimitKey, line: Line): Promise<() => void> {
    if (line.waiting.size >= ofOneWaiting) throw refusal('own');
    if (waiting >= ofAllWaiting) throw refusal('all');
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const remainingMs = RequestScope.current()?.remainingMs ?? Infinity;
    const limitMs = Math.min(remainingMs, patienceMs);
    const waiter: Waiter = {
      begin() {
        clearTimeout(timer);
        resolve(begin(key, line));
      },
    };
    const giveUp = () => {
      line.waiting.delete(waiter);
      waiting -= 1;
      forget(key, line);
      reject(remainingMs <= patienceMs ? new DeadlineExceededError() : refusal('patience'));
    };
    const timer = limitMs === Infinity ? undefined : setTimeout(giveUp, Math.max(limitMs, 0));
    line.waiting.add(waiter);
    waiting += 1;
    return promise;
  }

  async function acquire(key: LimitKey): Promise<() => void> {
    RequestScope.current()?.assertTime();
    const line = lines.get(key) ?? { running: 0, waiting: new Set() };
    lines.set(key, line);
    try {
      if (running < atOnce && line.running < ofOneAtOnce) return begin(key, line);
      return await wait(key, line);
    } finally {
      forget(key, line);
    }
  }

  return {
    acquire,

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
      const line = lines.get(key);
      return { running: line?.running ?? 0, waiting: line?.waiting.size ?? 0 };
    },
  };
}
