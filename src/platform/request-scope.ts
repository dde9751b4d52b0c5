import { AsyncLocalStorage } from 'node:async_hooks';

/** The work was not done by the deadline of its request. */
export class DeadlineExceededError extends Error {
  override name = 'DeadlineExceededError';

  constructor() {
    super('The deadline of the request has passed');
  }
}

/** The interval at which deadlines are checked. A timer for each request would cost more than everything else here. */
const SWEEP_MS = 25;

const current = new AsyncLocalStorage<RequestScope | undefined>();

/** Scopes whose deadline has not passed, each at its index. */
const open: (RequestScope | undefined)[] = [];
/** Indexes without a scope. */
const vacant: number[] = [];
let sweeper: NodeJS.Timeout | undefined;

/**
 * The context of all asynchronous work for one request: its deadline, and the tenant whose share of limited resources
 * it uses. Time is measured by the machine's monotonic clock.
 */
export class RequestScope {
  /** The account of a login, once it is known to exist: the log names it when the login is refused. */
  account: string | undefined;
  /** The application whose program the request comes from, once it has proved that. */
  application: string | undefined;
  readonly #arrivedAt = performance.now();
  #tenant: string | (() => string);
  #endsAt: number;
  /** How many waits for the client are pending, and since when. */
  #waits = 0;
  #waitingSince = 0;
  #isOver = false;
  #onDeadline: ((error: DeadlineExceededError) => void)[] | undefined;
  readonly #place = vacant.pop() ?? open.length;

  /**
   * @param limitMs time until the deadline, counted from now
   * @param tenant the tenant of the request, as far as it is known; called on first use
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

  /** The scope of the caller; undefined for background work. */
  static current(): RequestScope | undefined {
    return current.getStore();
  }

  /** Runs work that serves many requests or continues after this one, so that no request's deadline ends it. */
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

  /** Removes the deadline, because the response is being sent. Has no effect once the deadline has passed. */
  lift(): void {
    this.#endsAt = Infinity;
    this.#leave();
  }

  /** Waits for the client, for example for more of its body; this time does not count. */
  excluding<Result>(wait: Promise<Result>): Promise<Result> {
    if (this.#waits === 0) this.#waitingSince = performance.now();
    this.#waits += 1;
    const end = () => {
      this.#waits -= 1;
      if (this.#waits === 0) this.#endsAt += performance.now() - this.#waitingSince;
    };
    // Resumed before the caller continues, so that the caller's own change of the deadline applies last.
    wait.then(end, end);
    return wait;
  }

  /** @throws DeadlineExceededError when the deadline passes first; the work then continues unobserved */
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
 * The tenant whose share of limited resources the caller uses.
 * @param otherwise the tenant of work that belongs to no request
 */
export function currentTenant(otherwise = ''): string {
  return RequestScope.current()?.tenant ?? otherwise;
}

/** Waits for the client; if the caller works for a request, the time does not count. */
export function excludingWait<Result>(wait: Promise<Result>): Promise<Result> {
  return RequestScope.current()?.excluding(wait) ?? wait;
}

/** Names the account whose login the caller works on, for the log. @param id of a user or a developer that exists */
export function noteAccount(id: string): void {
  const scope = RequestScope.current();
  if (scope) scope.account = id;
}

/** Names the application whose program the caller works for. @param appId of an application that exists */
export function noteApplication(appId: string): void {
  const scope = RequestScope.current();
  if (scope) scope.application = appId;
}
