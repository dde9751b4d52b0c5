/** How often to check: short compared with the time that a stop takes. */
const LOOK_MS = 200;

/**
 * Calls back when the process that started this one has ended. Under npm that is a shell, which a signal to npm ends
 * without reaching this process.
 */
export function onParentEnd(callback: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, LOOK_MS);
  timer.unref();
}
