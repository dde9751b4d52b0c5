import { openConnection } from './connection.ts';
import type { Tally } from './tally.ts';

const TICK_MS = 1;
const RESPONSE_WITHIN_MS = 10_000;

/** This many requests are due each second, no matter how long earlier ones take: as with independent clients. */
export interface Pace {
  readonly perSecond: number;
  /** At most: more at once than the server's backlog would only measure how the kernel drops them. */
  readonly connections: number;
}

/**
 * Sends requests as they fall due. One that finds no free connection waits, and its time counts from when it was due.
 * @param make makes a request
 * @param ms for how long; it returns when the last response has arrived
 * @returns how many requests never found a connection
 * @throws Error when the server does not respond to one
 */
export async function loadPaced(
  { port, ms, perSecond, connections }: Pace & { readonly port: number; readonly ms: number },
  make: () => string,
  tally: Tally,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const close: (() => void)[] = [];
  const idle: ((dueAt: number) => void)[] = [];
  const waiting: number[] = [];
  let due = 0;
  let pending = 0;
  let over = false;

  function open(): (dueAt: number) => void {
    let dueAt = 0;
    const connection = openConnection(
      port,
      (response) => {
        tally.count(response, performance.now() - dueAt);
        pending -= 1;
        idle.push(send);
        sendDue();
        if (tally.broken || (over && pending === 0)) resolve();
      },
      reject,
    );
    close.push(connection.close);
    const send = (since: number) => {
      dueAt = since;
      pending += 1;
      connection.send(make());
    };
    return send;
  }

  function sendDue(): void {
    while (!over && waiting.length > 0) {
      const send = idle.pop() ?? (close.length < connections ? open() : undefined);
      if (!send) return;
      send(waiting.shift()!);
    }
  }

  const start = performance.now();
  const pace = setInterval(() => {
    const now = performance.now();
    const wanted = Math.ceil((Math.min(now - start, ms) / 1000) * perSecond);
    for (; due < wanted; due += 1) waiting.push(now);
    sendDue();
    if (now - start < ms) return;
    clearInterval(pace);
    over = true;
    if (pending === 0) resolve();
  }, TICK_MS);
  const late = setTimeout(
    () => reject(new Error(`${pending} requests have no response after ${RESPONSE_WITHIN_MS} ms`)),
    ms + RESPONSE_WITHIN_MS,
  );
  try {
    await promise;
    return waiting.length;
  } finally {
    clearInterval(pace);
    clearTimeout(late);
    for (const each of close) each();
  }
}
