import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { prepareWatch } from '../../security/support/stall-watch.ts';
import { createTestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { ban, newApp, newSession, type App } from '../../support/fixtures.ts';
import { spawnService, temporaryFolder } from '../../support/processes.ts';
import type { Opened, Notified, Wanted } from './support/listening.ts';
import { newSessions, type SessionShape } from './support/many-sessions.ts';

/** The documented maximum for all listeners. */
const WITHIN_MS = 1_000;
/** A margin for what shares the machine with the tests. */
const MARGIN_MS = 2_000;
const STREAMS = 9_000;
/** The most clients of one address. */
const MQTT_CLIENTS = 1_000;
const LISTENERS = STREAMS + MQTT_CLIENTS;

const databaseUrl = await createTestDatabase();
const mqttPort = await freePort();
const watch = prepareWatch(await temporaryFolder(afterAll));
const { api, child } = await spawnService(
  {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
    MAX_EVENT_CLIENTS: String(2 * LISTENERS),
    MQTT_PORT: String(mqttPort),
    ...watch.environment,
  },
  afterAll,
);
const probe = watch.begin();
afterAll(() => probe.end());
const httpPort = Number(new URL(api.baseUrl).port);
const program = fileURLToPath(new URL('support/listening.ts', import.meta.url));
/** The time before a scheduled event until which all clients must listen. */
const LATER_MS = 30_000;
const steadyNow = () => Number(process.hrtime.bigint()) / 1e6;

/** Processor time of the service in milliseconds. Linux counts it in hundredths of a second. */
function usedMs(): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Starts clients in their own process. @returns their report, once all have been notified */
async function listen(wanted: Omit<Wanted, 'httpPort' | 'mqttPort'>): Promise<() => Promise<Notified>> {
  const clients = fork(program, { execArgv: [] });
  onTestFinished(() => void clients.kill());
  const failed = once(clients, 'exit').then(() => {
    throw new Error('the clients have failed');
  });
  const next = <Message>() =>
    Promise.race([once(clients, 'message').then(([message]) => message as Message), failed]);
  clients.send({ ...wanted, httpPort, mqttPort } satisfies Wanted);
  const { opened } = await next<Opened>();
  expect(opened).toBe(wanted.streams.length + wanted.mqttClients.length);
  const notified = next<Notified>();
  // The clients are killed at the end.
  notified.catch(() => {});
  return () => notified;
}

/** The application and user of an occasion. */
interface Subject {
  readonly app: App;
  readonly user: { readonly id: string; readonly hwid: string };
  /** A time after all of them listen. */
  readonly later: Date;
}

/** Events that reach all listeners. */
interface Occasion {
  readonly what: string;
  readonly shape?: (later: Date) => SessionShape;
  /** The number of clients with the same session. */
  readonly clientsASession?: number;
  /** Switches that are set beforehand. */
  readonly switches?: Parameters<App['patch']>[0];
  /** Resolves when the service has acknowledged it. */
  readonly cause: (subject: Subject) => Promise<unknown>;
  readonly type: string;
  /** Whether the clients continue to listen after the event. */
  readonly continues?: boolean;
}

async function manage(method: string, { app }: Subject, path: string, body?: unknown): Promise<void> {
  const url = `/api/v2/dev/apps/${app.app_id}${path}`;
  const { status } = await api.call(method, url, body, { token: app.token });
  if (status !== 200) throw new Error(`${method} ${url} returned ${status}`);
}

const occasions: readonly Occasion[] = [
  {
    what: 'a pause',
    switches: { pause_sessions: true },
    cause: ({ app }) => app.patch({ status: 'paused' }),
    type: 'session.refused',
  },
  {
    what: 'a ban of their networks',
    cause: ({ app }) => ban(api, app, { kind: 'network', network: '127.0.0.0/8' }),
    type: 'session.refused',
  },
  {
    what: 'a ban of their machine',
    shape: () => ({ oneMachine: true }),
    cause: ({ app, user }) => ban(api, app, { kind: 'hardware', hwid: user.hwid }),
    type: 'session.refused',
  },
  {
    what: 'a newly required subscription',
    cause: ({ app }) => app.patch({ require_subscription: true }),
    type: 'session.refused',
  },
  {
    what: 'newly blocked VPNs',
    cause: ({ app }) => app.patch({ block_vpn: true, vpn_fail_closed: true }),
    type: 'session.refused',
  },
  {
    what: 'the end of their subscriptions',
    shape: (later) => ({ subscribedUntil: later }),
    switches: { require_subscription: true },
    cause: ({ later }) => delay(later.getTime() - Date.now()),
    type: 'session.refused',
  },
  {
    what: 'the end of their sessions',
    shape: (later) => ({ expiresAt: later }),
    cause: ({ later }) => delay(later.getTime() - Date.now()),
    type: 'session.expired',
  },
  {
    what: 'the disabling of their application',
    cause: ({ app }) => app.patch({ status: 'disabled' }),
    type: 'application.disabled',
  },
  {
    what: 'the deletion of their application',
    cause: (subject) => manage('DELETE', subject, ''),
    type: 'application.deleted',
  },
  {
    what: 'the end of all sessions of one user',
    shape: () => ({ oneUser: true }),
    clientsASession: 5,
    cause: (subject) => manage('DELETE', subject, `/users/${subject.user.id}/sessions`),
    type: 'session.ended',
  },
  {
    what: 'a changed variable',
    cause: (subject) =>
      manage('PUT', subject, '/variables/greeting', { value: 'Hello', visibility: 'public' }),
    type: 'variable.set',
    continues: true,
  },
];

test.each(occasions)('$what reaches all listeners within a second', async (occasion) => {
  const { what, shape, clientsASession = 1, switches, cause, type, continues = false } = occasion;
  const app = await newApp(api);
  const later = new Date(Date.now() + LATER_MS);
  const { ids, user } = await newSessions(api, databaseUrl, app, LISTENERS / clientsASession, shape?.(later));
  if (switches) await app.patch(switches);
  const sessions = ids.flatMap((id) => Array<string>(clientsASession).fill(id));
  const notified = await listen({
    appId: app.app_id,
    streams: sessions.slice(0, STREAMS),
    mqttClients: sessions.slice(STREAMS),
    type,
    isLast: !continues,
  });
  const usedBefore = usedMs();
  await probe.longest();
  const began = steadyNow();
  await cause({ app, user, later });
  const acknowledged = steadyNow();
  const { notifiedAt, endedAt, cpuMs } = await notified();
  const held = await probe.longest();
  const since = (at: number | null) => (at === null ? '-' : `${(at - acknowledged).toFixed(0)} ms`);
  console.log(
    `${what}: acknowledged after ${(acknowledged - began).toFixed(0)} ms; then the last of ${sessions.length} was ` +
      `notified after ${since(notifiedAt)}, ended after ${since(endedAt)}. ` +
      `Processor time of the service ${usedMs() - usedBefore} ms, ` +
      `blocked for at most ${held.toFixed(0)} ms at a time; of the clients ${cpuMs.toFixed(0)} ms`,
  );
  expect(Math.max(notifiedAt, endedAt ?? 0) - acknowledged).toBeLessThan(WITHIN_MS + MARGIN_MS);
});

test('a ban of one user reaches that user at once, among 10,000 others', async () => {
  const app = await newApp(api);
  const { ids } = await newSessions(api, databaseUrl, app, LISTENERS);
  const streams = ids.slice(0, STREAMS);
  const others = { appId: app.app_id, streams, mqttClients: ids.slice(STREAMS), type: 'none', isLast: false };
  await listen(others);
  const { owner, session_id } = await newSession(api, app);
  const victim = { ...others, streams: [session_id], mqttClients: [], type: 'session.ended', isLast: true };
  const notified = await listen(victim);
  await ban(api, app, { kind: 'user', username: owner.username });
  const acknowledged = steadyNow();
  const waited = (await notified()).endedAt! - acknowledged;
  console.log(`a ban of a user: received ${waited.toFixed(0)} ms after it was acknowledged`);
  expect(waited).toBeLessThan(WITHIN_MS + MARGIN_MS);
});
