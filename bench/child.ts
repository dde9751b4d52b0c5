import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of the bench that carries out orders. */
export interface Child<Order, Result> {
  /** @throws Error with the child's own words when it fails or ends */
  request(order: Order): Promise<Result>;
  /** Lets it end, by force when it does not. */
  end(): Promise<void>;
}

interface Envelope {
  readonly response?: unknown;
  readonly error?: string;
}

const END_WITHIN_MS = 5_000;

/**
 * Starts a module in a process of its own.
 * @param module its address; it calls `serveOrders`
 * @param environment what it finds in `process.env` besides PATH, HOME and TMPDIR
 * @param flags of Node
 */
export function startChild<Order, Result>(
  module: URL,
  environment: Record<string, string> = {},
  flags: readonly string[] = [],
): Child<Order, Result> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const child = fork(module, {
    execArgv: [...process.execArgv, ...flags],
    env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  let pending = Promise.withResolvers<Result>();
  child.on('message', ({ response, error }: Envelope) => {
    if (error === undefined) pending.resolve(response as Result);
    else pending.reject(new Error(`${module.pathname}: ${error}`));
  });
  void ended.then(([code, signal]) =>
    pending.reject(new Error(`${module.pathname} ended: ${code ?? signal}`)),
  );
  pending.promise.catch(() => {});

  return {
    request(order) {
      if (!child.connected) return Promise.reject(new Error(`${module.pathname} has ended`));
      pending = Promise.withResolvers<Result>();
      child.send(order as object, (error) => error && pending.reject(error));
      return pending.promise;
    },
    async end() {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      if (child.exitCode === null && child.signalCode === null) await ended;
      clearTimeout(timer);
    },
  };
}

/** The other side of `startChild`: the process ends with the one that started it. */
export function serveOrders<Order>(serve: (order: Order) => Promise<unknown>): void {
  process.on('message', (order) => {
    serve(order as Order).then(
      (value) => process.send!({ response: value }),
      (error: unknown) => process.send!({ error: String((error as Error).stack ?? error) }),
    );
  });
  process.once('disconnect', () => process.exit());
  // Ctrl+C reaches every process of the terminal; the bench itself ends the others in order.
  process.on('SIGINT', () => {});
}
