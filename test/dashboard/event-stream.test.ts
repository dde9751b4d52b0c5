import { once } from 'node:events';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';

interface Listener {
  readonly onEvents: (events: readonly { readonly id: string }[]) => void;
  readonly onStart: () => void;
}

// What the module has of a browser. Another tab has the lock, so this one does not read the stream itself.
vi.stubGlobal('document', { hidden: false, querySelector: () => null });
vi.stubGlobal('window', new EventTarget());
vi.stubGlobal('navigator', { locks: { request: () => new Promise(() => {}) } });
afterAll(() => void vi.unstubAllGlobals());

// The types of the dashboard are those of a browser, which the tests do not have.
const path: string = new URL('../../dashboard/src/api/event-stream.ts', import.meta.url).pathname;
const { listenToEvents } = (await import(path)) as {
  listenToEvents: (account: string, listener: Listener) => () => void;
};

test('a tab starts with the first status, also if an event has reached it before', async () => {
  const leader = new BroadcastChannel('latchkey events dev_early');
  onTestFinished(() => leader.close());
  const seen: string[] = [];
  const stop = listenToEvents('dev_early', {
    onEvents: (events) => seen.push(...events.map(({ id }) => id)),
    onStart: () => seen.push('start'),
  });
  onTestFinished(() => {
    // It stops when no part of the page has listened for a while.
    vi.useFakeTimers();
    stop();
    vi.runAllTimers();
    vi.useRealTimers();
  });
  await once(leader, 'message');

  leader.postMessage({ kind: 'events', events: [{ id: 'evt_5' }], lastId: 'evt_5' });
  const connected = { kind: 'status', status: { state: 'connected' }, from: 'evt_5', lastId: 'evt_5' };
  leader.postMessage(connected);
  await expect.poll(() => seen).toEqual(['evt_5', 'start']);

  // The stream continues after an event that the tab has: nothing is missing.
  leader.postMessage(connected);
  leader.postMessage({ kind: 'events', events: [{ id: 'evt_6' }], lastId: 'evt_6' });
  await expect.poll(() => seen).toEqual(['evt_5', 'start', 'evt_6']);
});
