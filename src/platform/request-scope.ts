import { AsyncLocalStorage } from 'node:async_hooks';

/** The work was not done by the deadline of its request. */
export class DeadlineExceededError extends Error {
  override name = 'DeadlineExceededError';

  constructor() {
    super('The deadline of the request has passed');
  }
}

const current = new AsyncLocalStorage<RequestScope | undefined>();

/**
 * What all work for one request shares, wherever it goes on: until when it must be done, and whose share of limited resources
 * it takes. It is measured by the machine's monotonic clock.
 */
export class RequestScope {
  readonly #arrivedAt = performance.now();
  readonly #expired = Promise.withResolvers<never>();
  #tenant: string | (() => string);
  #endsAt: number;
  #timer: NodeJS.Timeout | undefined;
  /** How many waits for the client are under way, and since when. */
  #waits = 0;
  #waitingSince = 0;
  #isOver = false;

  /**
   * @param limitMs from now on
   * @param tenant whose work it is, as far as it is known; asked for when it is first needed
   */
  constructor(limitMs: number, tenant: () => string) {
    this.#tenant = tenant;
    this.#endsAt = this.#arrivedAt + limitMs;
    this.#expired.promise.catch(() => {});
    this.#arm();
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
    this.#arm();
  }

  /** Takes the deadline away: the response is on its way. Without effect once the deadline has passed. */
  lift(): void {
    this.#endsAt = Infinity;
    clearTimeout(this.#timer);
  }

  /** Waits for the client, such as for more of its body, which does not count. */
  async excluding<Result>(wait: Promise<Result>): Promise<Result> {
    if (this.#waits === 0) this.#waitingSince = performance.now();
    this.#waits += 1;
    try {
      return await wait;
    } finally {
      this.#waits -= 1;
      if (this.#waits === 0) {
        this.#endsAt += performance.now() - this.#waitingSince;
        this.#arm();
      }
    }
  }

  /** @throws DeadlineExceededError when the deadline passes first; the work is then left to end by itself */
  race<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#expired.promise]);
  }

  /** Calls back once, if the deadline passes. */
  onDeadline(callback: (error: DeadlineExceededError) => void): void {
    this.#expired.promise.catch(callback);
  }

  /** @throws DeadlineExceededError when the deadline has passed */
  assertTime(): void {
    if (this.remainingMs <= 0) throw new DeadlineExceededError();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isOver || this.#endsAt === Infinity) return;
    this.#timer = setTimeout(() => this.#onTimer(), Math.max(this.#endsAt - performance.now(), 0));
    this.#timer.unref();
  }

  #onTimer(): void {
    // The end of the wait sets it again.
    if (this.#waits > 0) return;
    if (this.#endsAt - performance.now() > 1) return this.#arm();
    this.#isOver = true;
    this.#expired.reject(new DeadlineExceededError());
  }
}

/** Waits for the client without counting it, where the caller works for a request. */
export function excludingWait<Result>(wait: Promise<Result>): Promise<Result> {
  return RequestScope.current()?.excluding(wait) ?? wait;
}
