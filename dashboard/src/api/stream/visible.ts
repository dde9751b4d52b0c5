/** Runs a task while the tab can be seen. Its signal aborts when the tab is hidden. @param stopping ends it for good */
export async function whileVisible(
  stopping: AbortSignal,
  task: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!stopping.aborted) {
    await untilVisibility('visible', stopping);
    const hidden = new AbortController();
    const hiding = untilVisibility('hidden', AbortSignal.any([stopping, hidden.signal])).then(() =>
      hidden.abort(),
    );
    if (!stopping.aborted) await task(AbortSignal.any([stopping, hidden.signal]));
    hidden.abort();
    await hiding;
  }
}

function untilVisibility(state: DocumentVisibilityState, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (document.visibilityState !== state && !stopping.aborted) return;
      document.removeEventListener('visibilitychange', check);
      stopping.removeEventListener('abort', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    stopping.addEventListener('abort', check);
    check();
  });
}
