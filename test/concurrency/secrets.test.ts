import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newApp, newNonce, newSession } from '../support/fixtures.ts';
import { sign } from './signed.ts';
import { tally, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client } = two;
const [{ api }] = two.services;

const OVERLAP_S = 3600;

test('rotations under load over two processes: no false 401, and removed secrets are invalid at once', async () => {
  const app = await newApp(api);
  const { app_id: appId } = app;
  const session = await newSession(api, app);
  const dev = (turn: number, method: string, what: string, body?: object) =>
    client(turn).call(method, `/api/v2/dev/apps/${appId}/${what}`, body, app.token);

  /** The secrets of clients: one with the oldest secret must change before it ends. */
  let [previous, current] = [app.secret, app.secret];
  let over = false;
  const responses: LightResponse[] = [];
  /** Uses a secret repeatedly: it must work until its removal starts. */
  const use = async (secretOf: () => string, first: number) => {
    for (let turn = first; !over; turn += 1) {
      const secret = secretOf();
      const signed = sign({ app_id: appId, secret }, { token: session.token, nonce: newNonce() });
      const response =
        turn % 3 === 0
          ? await client(turn).post('/api/v2/client/verify-session', signed.text, { headers: signed.headers })
          : await client(turn).post('/api/v1/client/init', { app_id: appId, secret });
      if (!removing.has(secret)) responses.push(response);
    }
  };
  const removing = new Set<string>();
  const users = [0, 1, 2, 3].flatMap((first) => [use(() => previous, first), use(() => current, first)]);

  for (let round = 0; round < 12; round += 1) {
    await delay(40);
    // Clients with the oldest secret change to the current one before it ends.
    const oldest = previous;
    previous = current;
    removing.add(oldest);
    await delay(40);
    const rotated = await dev(round, 'POST', 'rotate-secret', { overlap_seconds: OVERLAP_S });
    expect(rotated.status).toBe(200);
    const secret = String(rotated.body['secret']);
    // The new secret and the one before are accepted everywhere at once.
    for (const turn of [0, 1]) {
      for (const each of [secret, current]) {
        const response = await client(turn).post('/api/v1/client/init', { app_id: appId, secret: each });
        expect(response.status).toBe(200);
      }
      if (oldest === current) continue;
      const dead = await client(turn).post('/api/v1/client/init', { app_id: appId, secret: oldest });
      expect(dead.code).toBe('INVALID_APP_CREDENTIALS');
    }
    if (oldest === current) removing.delete(oldest);
    current = secret;
  }
  over = true;
  await Promise.all(users);
  expect(Object.keys(tally(responses))).toEqual(['200']);
  expect(responses.length).toBeGreaterThan(100);

  // A secret that one process ended is invalid at both, in bodies and in signatures.
  expect((await dev(0, 'DELETE', 'previous-secret')).status).toBe(200);
  for (const turn of [0, 1]) {
    const dead = await client(turn).post('/api/v1/client/init', { app_id: appId, secret: previous });
    expect(dead.code).toBe('INVALID_APP_CREDENTIALS');
    const signed = sign({ app_id: appId, secret: previous }, { token: session.token, nonce: newNonce() });
    const refused = await client(turn).post('/api/v2/client/verify-session', signed.text, {
      headers: signed.headers,
    });
    expect(refused.code).toBe('INVALID_APP_CREDENTIALS');
  }
});

test('concurrent rotations over two processes leave two secrets, one of which is the latest', async () => {
  const app = await newApp(api);
  const path = `/api/v2/dev/apps/${app.app_id}/rotate-secret`;
  const rotated = await Promise.all(
    Array.from({ length: 20 }, (_, turn) =>
      client(turn).call('POST', path, { overlap_seconds: OVERLAP_S }, app.token),
    ),
  );
  expect(tally(rotated)).toEqual({ 200: 20 });
  const secrets = [app.secret, ...rotated.map(({ body }) => String(body['secret']))];
  expect(new Set(secrets).size).toBe(21);
  for (const turn of [0, 1]) {
    const taken = await Promise.all(
      secrets.map((secret) => client(turn).post('/api/v1/client/init', { app_id: app.app_id, secret })),
    );
    expect(tally(taken)).toEqual({ 200: 2, '401 INVALID_APP_CREDENTIALS': 19 });
  }
});
