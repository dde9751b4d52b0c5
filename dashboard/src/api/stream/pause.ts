const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** How long to wait after some failures in a row. Chance keeps the browsers of a service that restarts apart. */
export function backoff(failures: number, random: () => number = Math.random): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return longest * (0.5 + random() / 2);
}

/** Waits, at most until one of the signals aborts. */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', over);
      resolve();
    };
    // An endless wait has no timer.
    const timer = Number.isFinite(ms) ? setTimeout(over, ms) : undefined;
    for (const signal of signals) signal.addEventListener('abort', over);
    if (signals.some(({ aborted }) => aborted)) over();
  });
}
