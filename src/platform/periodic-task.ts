const INTERVAL_MS = 1_000;

interface Schedule {
  /** How long to wait when there is nothing more to do. 1 s by default. */
  readonly intervalMs?: number;
  /** How long to wait at least, unless there is more to do, so that events in between are handled together. */
  readonly minPauseMs?: number;
}

/** Work that runs again and again in the background. */
export interface PeriodicTask {
  /** Runs the work now, or once more after the run in progress. */
  wake(): void;
  /** Stops after the run in progress. */
  stop(): Promise<void>;
}

/**
 * Runs work at once, whenever it is woken, and an interval after the last run.
 * @param work returns whether there may be more to do
 * @param onError called when a run fails; the next one follows after the interval
 */
export function startPeriodicTask(
  work: () => Promise<boolean>,
  onError: (error: unknown) => void,
  { intervalMs = INTERVAL_MS, minPauseMs = 0 }: Schedule = {},
): PeriodicTask {
  let stopped = false;
  let woken = true;
  let pause: { readonly end: () => void } | undefined;

  const wait = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, intervalMs);
      timer.unref();
      pause = {
        end: () => {
          clearTimeout(timer);
          resolve();
        },
      };
    });

  const done = (async () => {
    while (!stopped) {
      woken = false;
      let more = false;
      try {
        more = await work();
      } catch (error) {
        onError(error);
      }
      if (!more && minPauseMs > 0) await new Promise((resolve) => setTimeout(resolve, minPauseMs));
      if (!more && !woken && !stopped) await wait();
      pause = undefined;
    }
  })();

  return {
    wake() {
      woken = true;
      pause?.end();
    },
    async stop() {
      stopped = true;
      pause?.end();
      await done;
    },
  };
}
