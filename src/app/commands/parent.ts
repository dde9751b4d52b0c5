/** How often it looks. A stop takes longer. */
const LOOK_MS = 200;

/**
 * Calls back when the process that started this one has ended. Under npm that is a shell, which ends on a signal to npm and does
 * not pass it on.
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
