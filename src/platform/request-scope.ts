import { AsyncLocalStorage } from 'node:async_hooks';

/** The work was not done by the deadline of its request. */
export class DeadlineExceededError extends Error {
  override name = 'DeadlineExceededError';

  constructor() {
    super('The deadline of the request has passed');
  }
}

/** How often deadlines are looked at: one is noticed so much later at most. A timer for each request would cost more than the rest. */
const SWEEP_MS = 25;

const current = new AsyncLocalStorage<RequestScope | undefined>();

/** Scopes whose deadline is still ahead, each in its place. */
const open: (RequestScope | undefined)[] = [];
/** Places without a scope. */
const vacant: number[] = [];
let sweeper: NodeJS.Timeout | undefined;

/**
 * What all work for one request shares, wherever it goes on: until when it must be done, and whose share of limited resources
 * it takes. It is measured by the machine's monotonic clock.
 */
export class RequestScope {
  readonly #arrivedAt = performance.now();
  #tenant: string | (() => string);
  #endsAt: number;
  /** How many waits for the client are under way, and since when. */
  #waits = 0;
  #waitingSince = 0;
  #isOver = false;
  #onDeadline: ((error: DeadlineExceededError) => void)[] | undefined;
  readonly #place = vacant.pop() ?? open.length;

  /**
   * @param limitMs from now on
   * @param tenant whose work it is, as far as it is known; asked for when it is first needed
   */
  constructor(limitMs: number, tenant: () => string) {
    this.#tenant = tenant;
    this.#endsAt = this.#arrivedAt + limitMs;
    open[this.#place] = this;
    sweeper ??= current.run(undefined, () => setInterval(RequestScope.#sweep, SWEEP_MS).unref());
  }

  static #sweep(this: void): void {
    if (vacant.length === open.length) {
      clearInterval(sweeper);
      sweeper = undefined;
      return;
    }
    const now = performance.now();
    for (const scope of open) if (scope && scope.#waits === 0 && scope.#endsAt <= now) scope.#end();
  }

  /** The scope of the caller; undefined for work of the service's own. */
  static current(): RequestScope | undefined {
    return current.getStore();
  }

  /** Runs work that serves many requests, or goes on after this one: the deadline of none of them ends it. */
  static outside<Result>(work: () => Result): Result {
    return current.run(undefined, work);
  }

  /** Runs the work of the request. */
  run<Result>(work: () => Result): Result {
    return current.run(this, work);
  }

  /** A developer or an application; the client's address while neither is known. */
  get tenant(): string {
    if (typeof this.#tenant === 'function') this.#tenant = this.#tenant();
    return this.#tenant;
  }

  set tenant(tenant: string) {
    this.#tenant = tenant;
  }

  /** Milliseconds until the deadline; not above 0 once it has passed. */
  get remainingMs(): number {
    if (this.#isOver) return 0;
    const now = this.#waits > 0 ? this.#waitingSince : performance.now();
    return this.#endsAt - now;
  }

  /** Sets another limit, counted from the arrival of the request. */
  limit(limitMs: number): void {
    this.#endsAt = this.#arrivedAt + limitMs;
  }

  /** Takes the deadline away: the response is on its way. Without effect once the deadline has passed. */
  lift(): void {
    this.#endsAt = Infinity;
    this.#leave();
  }

  /** Waits for the client, such as for more of its body, which does not count. */
  excluding<Result>(wait: Promise<Result>): Promise<Result> {
    if (this.#waits === 0) this.#waitingSince = performance.now();
    this.#waits += 1;
    const end = () => {
      this.#waits -= 1;
      if (this.#waits === 0) this.#endsAt += performance.now() - this.#waitingSince;
    };
    // Before the caller goes on: its reaction is the later one.
    wait.then(end, end);
    return wait;
  }

  /** @throws DeadlineExceededError when the deadline passes first; the work is then left to end by itself */
  race<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject);
      this.onDeadline(reject);
    });
  }

  /** Calls back once, if the deadline passes. */
  onDeadline(callback: (error: DeadlineExceededError) => void): void {
    if (this.#isOver) callback(new DeadlineExceededError());
    else (this.#onDeadline ??= []).push(callback);
  }

  /** @throws DeadlineExceededError when the deadline has passed */
  assertTime(): void {
    if (this.remainingMs <= 0) throw new DeadlineExceededError();
  }

  #end(): void {
    this.#isOver = true;
    this.#leave();
    for (const callback of this.#onDeadline ?? []) callback(new DeadlineExceededError());
  }

  #leave(): void {
    if (open[this.#place] !== this) return;
    open[this.#place] = undefined;
    vacant.push(this.#place);
  }
}

/**
 * Whose share of limited resources the caller takes.
 * @param otherwise whose it is when the work is for no request
 */
export function currentTenant(otherwise = ''): string {
  return RequestScope.current()?.tenant ?? otherwise;
}

/** Waits for the client without counting it, where the caller works for a request. */
export function excludingWait<Result>(wait: Promise<Result>): Promise<Result> {
  return RequestScope.current()?.excluding(wait) ?? wait;
}
