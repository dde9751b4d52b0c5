import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { newApp, newSession, newUser } from '../support/fixtures.ts';
import {
  embeddedDatabaseUrl,
  isAlive,
  postmasterOf,
  spawnProgram,
  spawnService,
  temporaryDataDir,
} from '../support/processes.ts';
import { Connection, requestText } from './connection.ts';

const VERIFY = '/api/v1/client/verify-session';
/** After 10 s the service exits with code 1, so code 0 means that it ended in time, however late the test sees it. */
const EXIT_WITHIN_MS = 20_000;

/** Timeout for processes that start, serve and end concurrently. */
const PATIENCE_MS = 120_000;

const environment = {
  DATABASE_URL: await createTestDatabase(),
  MASTER_KEY: randomBytes(32).toString('base64'),
  LOG_LEVEL: 'error',
};

interface Load {
  responses: number;
  /** Failed requests on a connection that had served before and was not announced to close. */
  brokenKept: string[];
  /** Failed requests on a new connection. */
  brokenNew: string[];
  /** Connections after the signal that were not accepted. */
  refused: number;
  /** Whether the signal has been sent. */
  ending: boolean;
}

/**
 * A client that never stops: it keeps connections until the server announces that it closes, or opens one for each
 * request. It ends when connections are refused. The kernel may reset a connection between the service's last accept
 * and the end of listening, which no program can prevent.
 */
async function keepSending(
  baseUrl: string,
  text: string,
  kept: boolean,
  load: Load,
  pauseMs: number,
): Promise<void> {
  for (;;) {
    let connection: Connection;
    const { ending } = load;
    try {
      connection = await Connection.open(baseUrl);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Refused, or reset before it was established: the kernel may have queued it when the listener closed.
      if (code === 'ECONNREFUSED' || code === 'ECONNRESET') load.refused += 1;
      else load.brokenNew.push(`connect: ${code}`);
      return;
    }
    for (;;) {
      try {
        connection.write(text);
        const { status, closes } = await connection.response();
        expect(status).toBe(200);
        load.responses += 1;
        if (closes || !kept) break;
      } catch (error) {
        const { message } = error as Error;
        if (ending && connection.received === 0 && message === 'ECONNRESET') {
          load.refused += 1;
          return;
        }
        (connection.received > 0 ? load.brokenKept : load.brokenNew).push(message);
        break;
      }
      await delay(pauseMs);
    }
    connection.destroy();
  }
}

/**
 * Sends logins over kept connections, and returns when the service has started with them.
 * @returns the number of responses by status. Broken connections count by their reason
 */
async function loginsUnderWay(
  baseUrl: string,
  login: object,
  amount: number,
): Promise<() => Promise<Record<string, number>>> {
  const connections = await Promise.all(Array.from({ length: amount }, () => Connection.open(baseUrl)));
  for (const connection of connections) await connection.request('/api/v1/client/init', login);
  const responses = connections.map((connection) =>
    connection.request('/api/v1/client/login', login).then(
      ({ status }) => String(status),
      (error: Error) => error.message,
    ),
  );
  // A hash takes 20 ms, and one is computed at a time.
  await delay(60);
  return async () => {
    const counts: Record<string, number> = {};
    for (const response of await Promise.all(responses)) counts[response] = (counts[response] ?? 0) + 1;
    return counts;
  };
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s under load', { timeout: PATIENCE_MS }, (signal) => {
  test('fails no request, finishes requests in progress and ends with code 0', async () => {
    const service = await spawnService(environment);
    const { api } = service;
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const text = requestText(VERIFY, { app_id: app.app_id, token });
    const load: Load = { responses: 0, brokenKept: [], brokenNew: [], refused: 0, ending: false };
    const clients = [
      ...Array.from({ length: 16 }, () => keepSending(api.baseUrl, text, true, load, 0)),
      // Connections with pauses between requests that are shorter than any keep-alive timeout.
      ...Array.from({ length: 16 }, (_, n) => keepSending(api.baseUrl, text, true, load, 40 * (n + 1))),
      ...Array.from({ length: 8 }, () => keepSending(api.baseUrl, text, false, load, 0)),
    ];
    await delay(700);
    const before = load.responses;

    const user = await newUser(api, app);
    const hashing = await loginsUnderWay(api.baseUrl, app.with(user), 15);
    const began = performance.now();
    load.ending = true;
    const code = await service.end(signal);
    const ms = performance.now() - began;
    await Promise.all(clients);

    expect(await hashing()).toEqual({ 200: 15 });
    expect({ kept: load.brokenKept, new: load.brokenNew }).toEqual({ kept: [], new: [] });
    expect(load.responses - before).toBeGreaterThan(40);
    expect(load.refused).toBe(40);
    expect(code, service.output().stderr).toBe(0);
    expect(ms).toBeLessThan(EXIT_WITHIN_MS);
    expect(service.output().stderr).toBe('');
    console.log(`${signal} under load: exit after ${ms.toFixed(0)} ms`);
  });
});

test(
  'a connection that was established before SIGTERM is served, even if the service had no time to accept it',
  { timeout: PATIENCE_MS },
  async () => {
    const service = await spawnService(environment);
    const { api } = service;
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const text = requestText(VERIFY, { app_id: app.app_id, token });
    // A suspended service cannot accept, but the system does, like for a busy service.
    service.child.kill('SIGSTOP');
    const connections = await Promise.all(Array.from({ length: 30 }, () => Connection.open(api.baseUrl)));
    for (const connection of connections) connection.write(text);
    const ended = service.end('SIGTERM');
    service.child.kill('SIGCONT');
    const responses = await Promise.all(
      connections.map((connection) =>
        connection.response().then(
          ({ status }) => String(status),
          (error: Error) => error.message,
        ),
      ),
    );
    expect(await ended).toBe(0);
    expect(responses.filter((response) => response !== '200')).toEqual([]);
  },
);

test.concurrent(
  'a request that is sent in part when SIGTERM arrives gets a response',
  { timeout: PATIENCE_MS },
  async ({ onTestFinished }) => {
    const service = await spawnService(environment, onTestFinished);
    const app = await newApp(service.api);
    const { token } = await newSession(service.api, app);
    const text = requestText(VERIFY, { app_id: app.app_id, token });
    const { baseUrl } = service.api;
    const [inBody, inHead, silent, used, idle] = await Promise.all(
      [1, 2, 3, 4, 5].map(() => Connection.open(baseUrl)),
    );
    inBody!.write(text.slice(0, -20));
    inHead!.write(text.slice(0, 30));
    for (const each of [used!, idle!]) await each.request(VERIFY, { app_id: app.app_id, token });
    await delay(50);
    const began = performance.now();
    const ended = service.end('SIGTERM');
    // An idle connection can still send a request for 1.5 s after the last one.
    await delay(500);
    used!.write(text);
    await delay(500);
    idle!.write(text);
    inBody!.write(text.slice(-20));
    inHead!.write(text.slice(30));
    silent!.write(text);
    for (const [name, connection] of Object.entries({ inBody, inHead, used, idle, silent })) {
      expect(await connection!.response().catch(String), name).toMatchObject({ status: 200 });
    }
    expect(await ended).toBe(0);
    expect(performance.now() - began).toBeLessThan(EXIT_WITHIN_MS);
  },
);

test.concurrent.for([
  ['SIGTERM', 'SIGTERM'],
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGINT'],
] as const)(
  '%s and then %s: requests in progress still get responses',
  { timeout: PATIENCE_MS },
  async ([first, second], { onTestFinished }) => {
    const service = await spawnService(environment, onTestFinished);
    const app = await newApp(service.api);
    const user = await newUser(service.api, app);
    const hashing = await loginsUnderWay(service.api.baseUrl, app.with(user), 12);
    const began = performance.now();
    service.child.kill(first);
    await delay(20);
    const code = await service.end(second);
    expect(await hashing()).toEqual({ 200: 12 });
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(EXIT_WITHIN_MS);
    expect(service.output().stderr).toBe('');
  },
);

describe('with the embedded database', { timeout: PATIENCE_MS }, () => {
  test.concurrent(
    'Ctrl-C, which signals the whole terminal group, ends service and database cleanly',
    async ({ onTestFinished }) => {
      const dataDir = await temporaryDataDir(onTestFinished);
      const service = await spawnService({ DATA_DIR: dataDir, LOG_LEVEL: 'error' }, onTestFinished);
      const postmaster = (await postmasterOf(dataDir))!;
      expect(await embeddedDatabaseUrl(dataDir)).toContain('latchkey');
      const app = await newApp(service.api);
      await newUser(service.api, app);
      const began = performance.now();
      process.kill(-service.child.pid!, 'SIGINT');
      expect(await service.end('SIGINT')).toBe(0);
      const ms = performance.now() - began;
      expect(ms).toBeLessThan(EXIT_WITHIN_MS);
      expect(isAlive(postmaster)).toBe(false);
      expect(service.output().stderr).toBe('');
      console.log(`Ctrl-C with the embedded database: exit after ${ms.toFixed(0)} ms`);
    },
  );

  test.concurrent(
    'a connection that was opened and never used does not delay its end',
    async ({ onTestFinished }) => {
      const dataDir = await temporaryDataDir(onTestFinished);
      const service = await spawnService({ DATA_DIR: dataDir, LOG_LEVEL: 'error' }, onTestFinished);
      const postmaster = (await postmasterOf(dataDir))!;
      const silent = await Connection.open(service.api.baseUrl);
      const half = await Connection.open(service.api.baseUrl);
      half.write('POST /api/v1/client/init HTTP/1.1\r\n');
      await delay(50);
      const began = performance.now();
      expect(await service.end('SIGTERM'), service.output().stderr).toBe(0);
      const ms = performance.now() - began;
      expect(ms).toBeLessThan(EXIT_WITHIN_MS);
      expect(isAlive(postmaster)).toBe(false);
      silent.destroy();
      half.destroy();
      console.log(`SIGTERM with an unused and a half used connection: exit after ${ms.toFixed(0)} ms`);
    },
  );

  test('SIGTERM at any time during the start ends it, and the next start works', async () => {
    const dataDir = await temporaryDataDir();
    const ends: string[] = [];
    for (const ms of [350, 650, 900, 1_200, 1_600]) {
      const starting = spawnProgram({ DATA_DIR: dataDir, LOG_LEVEL: 'error' });
      await delay(ms);
      const began = performance.now();
      const code = await starting.end('SIGTERM');
      const { stderr } = starting.output();
      ends.push(`${ms}: ${code ?? starting.child.signalCode}`);
      // Before the program handles signals, the signal itself ends it.
      if (code === null) expect(starting.child.signalCode, ends.join()).toBe('SIGTERM');
      else expect({ code, stderr }, ends.join()).toEqual({ code: 0, stderr: '' });
      expect(performance.now() - began).toBeLessThan(EXIT_WITHIN_MS);
      expect(
        await postmasterOf(dataDir),
        `a database server was left behind: ${ends.join()}`,
      ).toBeUndefined();
    }
    console.log(`SIGTERM during the start, after ms: ${ends.join(', ')}`);
    const service = await spawnService({ DATA_DIR: dataDir, LOG_LEVEL: 'error' });
    expect((await service.api.call('GET', '/health')).status).toBe(200);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
