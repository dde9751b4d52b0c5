import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of the bench that answers questions. */
export interface Child<Question, Answer> {
  /** @throws Error with the child's own words when it fails or ends */
  ask(question: Question): Promise<Answer>;
  /** Lets it end, by force when it does not. */
  end(): Promise<void>;
}

interface Envelope {
  readonly answer?: unknown;
  readonly error?: string;
}

const END_WITHIN_MS = 5_000;

/**
 * Starts a module in a process of its own.
 * @param module its address; it calls `answerQuestions`
 * @param environment what it finds in `process.env` besides PATH, HOME and TMPDIR
 * @param flags of Node
 */
export function startChild<Question, Answer>(
  module: URL,
  environment: Record<string, string> = {},
  flags: readonly string[] = [],
): Child<Question, Answer> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const child = fork(module, {
    execArgv: [...process.execArgv, ...flags],
    env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  let asked = Promise.withResolvers<Answer>();
  child.on('message', ({ answer, error }: Envelope) => {
    if (error === undefined) asked.resolve(answer as Answer);
    else asked.reject(new Error(`${module.pathname}: ${error}`));
  });
  void ended.then(([code, signal]) => asked.reject(new Error(`${module.pathname} ended: ${code ?? signal}`)));
  asked.promise.catch(() => {});

  return {
    ask(question) {
      if (!child.connected) return Promise.reject(new Error(`${module.pathname} has ended`));
      asked = Promise.withResolvers<Answer>();
      child.send(question as object, (error) => error && asked.reject(error));
      return asked.promise;
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
export function answerQuestions<Question>(answer: (question: Question) => Promise<unknown>): void {
  process.on('message', (question) => {
    answer(question as Question).then(
      (value) => process.send!({ answer: value }),
      (error: unknown) => process.send!({ error: String((error as Error).stack ?? error) }),
    );
  });
  process.once('disconnect', () => process.exit());
  // Ctrl+C reaches every process of the terminal; the bench itself ends the others in order.
  process.on('SIGINT', () => {});
}
