import { asProblem, Problem } from '../../../api/problem.ts';

/** What a bulk action changes: chosen rows, or everything that the list shows. */
export type BulkTarget = { readonly ids: readonly string[] } | 'listed';

/** What one request did, or would do. */
export interface BulkStep {
  readonly matched: number;
  readonly changed: number;
  /** Rows that stayed as they were, each with the error code of the operation on a single one. */
  readonly unchanged: readonly { readonly id: string; readonly code: string }[];
  /** Continues with the next rows of the list. */
  readonly next: string | null;
  readonly requestId?: string | undefined;
}

export interface StepOptions {
  readonly cursor: string | undefined;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

/** Sends one request. */
export type RunStep = (target: BulkTarget, options: StepOptions) => Promise<BulkStep>;

/** Something that stayed as it was, and why. */
export interface Failure {
  /** The row, or nothing if a whole request failed. */
  readonly id?: string;
  readonly code: string | undefined;
  readonly detail?: string;
  readonly requestId: string | undefined;
}

/** How far a bulk action is. */
export interface BulkState {
  /** The rows that were examined. */
  readonly matched: number;
  readonly changed: number;
  readonly failures: readonly Failure[];
  readonly isOver: boolean;
}

/** Small enough that the progress moves and a cancellation is quick. */
const STEP_SIZE = 100;
/** Another bulk operation of the developer may be running. */
const ATTEMPTS = 5;
const LONGEST_WAIT_SECONDS = 10;

/**
 * Changes the target step by step until everything is changed or the signal aborts. A failed step does not stop those
 * after it, unless they continue where it stopped.
 */
export async function runBulk(
  run: RunStep,
  target: BulkTarget,
  { isDryRun, signal }: Pick<StepOptions, 'isDryRun' | 'signal'>,
  onProgress: (state: BulkState) => void,
): Promise<BulkState> {
  let state: BulkState = { matched: 0, changed: 0, failures: [], isOver: false };
  const show = (next: Partial<BulkState>) => onProgress((state = { ...state, ...next }));
  const add = ({ matched, changed, unchanged, requestId }: BulkStep) =>
    show({
      matched: state.matched + matched,
      changed: state.changed + changed,
      failures: [...state.failures, ...unchanged.map((row) => ({ ...row, requestId }))],
    });
  const fail = (error: unknown, size: number) => {
    const { code, details } = asProblem(error);
    const failure = { code, detail: details.detail, requestId: details.request_id };
    show({ matched: state.matched + size, failures: [...state.failures, failure] });
  };
  show({});
  if (target === 'listed') {
    let cursor: string | undefined;
    do {
      const options = { cursor, isDryRun, signal };
      const step = await patiently(() => run(target, options), signal).catch((error: unknown) =>
        fail(error, 0),
      );
      if (step) add(step);
      cursor = step?.next ?? undefined;
    } while (cursor !== undefined && !signal.aborted);
  } else {
    for (let at = 0; at < target.ids.length && !signal.aborted; at += STEP_SIZE) {
      const ids = target.ids.slice(at, at + STEP_SIZE);
      const options = { cursor: undefined, isDryRun, signal };
      await patiently(() => run({ ids }, options), signal).then(add, (error: unknown) =>
        fail(error, ids.length),
      );
    }
  }
  show({ isOver: true });
  return state;
}

/** Tries again while the service says that it is too early. */
async function patiently<Value>(send: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const isEarly = error instanceof Problem && error.status === 429;
      if (!isEarly || attempt === ATTEMPTS || signal.aborted) throw error;
      const seconds = Math.min(error.retryAfterSeconds ?? 1, LONGEST_WAIT_SECONDS);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    }
  }
}

/** Requests at one time: enough to be fast, few enough that the service stays fast for others. */
const AT_ONCE = 4;

/** One step of an action that has an operation for a single row only. */
export async function changeEach(
  ids: readonly string[],
  change: (id: string) => Promise<unknown>,
  signal: AbortSignal,
): Promise<BulkStep> {
  const unchanged: { id: string; code: string }[] = [];
  let requestId: string | undefined;
  let done = 0;
  const waiting = ids.values();
  async function work() {
    for (const id of waiting) {
      if (signal.aborted) return;
      try {
        await change(id);
      } catch (error) {
        const problem = asProblem(error);
        unchanged.push({ id, code: problem.code ?? problem.message });
        requestId = problem.details.request_id;
      }
      done += 1;
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { matched: done, changed: done - unchanged.length, unchanged, next: null, requestId };
}
