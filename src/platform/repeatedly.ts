const PAUSE_MS = 1_000;

/** How long it waits between one time and the next. */
interface Pace {
  /** When there is nothing to do; a second unless told. */
  readonly pauseMs?: number;
  /** At least, unless there is more to do, so that what happens meanwhile is done together; 0 unless told. */
  readonly restMs?: number;
}

/** Work that is done again and again. */
export interface Repeated {
  /** Does it again now, or once more after what is under way. */
  wake(): void;
  /** Ends it, when what is under way is done. */
  stop(): Promise<void>;
}

/**
 * Does work at once, when it is woken, and a pause after the last time.
 * @param work returns whether there may be more to do
 * @param onError called when it fails; then it waits for its pause
 */
export function repeatedly(
  work: () => Promise<boolean>,
  onError: (error: unknown) => void,
  { pauseMs = PAUSE_MS, restMs = 0 }: Pace = {},
): Repeated {
  let stopped = false;
  let woken = true;
  let pause: { readonly end: () => void } | undefined;

  const wait = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
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
      if (!more && restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
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
