import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DAY } from '../support/clock.ts';
import { newApp, newHwid, newUser, unique, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { clients, type Program } from './support/clients.ts';

const service = await startTestService();

/** Sets the clock of the service ahead of the machine's, which the clients use. */
function setClock(ahead: number): void {
  service.clock.advance(Date.now() + ahead - service.clock.now().getTime());
}

/** A relay that responds to every call with its own unsigned license login. @returns its address */
async function startRelay(own: object): Promise<string> {
  const server = createServer(async (request, response) => {
    const { nonce } = (await json(request)) as { nonce: string };
    const { status, body } = await service.api.post('/api/v2/client/login-license', { ...own, nonce });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const STEPS = [
  expect.stringMatching(/^login: a session until \d{4}-\d\d-\d\dT[\d:.]+Z$/),
  expect.stringMatching(/^verify-session: usr_\w+ is logged in$/),
  'logout: done',
  'verify-session: refused, SESSION_INVALID',
];

describe.each(clients)('$name against the service', ({ missing, build }) => {
  if (missing !== undefined) {
    test.skip(`not tried: this machine lacks ${missing}`, () => {});
    return;
  }

  let program: Program;
  let app: App;
  beforeAll(async () => {
    program = await build();
    setClock(0);
    app = await newApp(service.api);
    await app.patch({ require_signatures: true });
  }, 180_000);
  const client = (mode: string, ...args: string[]) =>
    program.runQuickly([mode, service.baseUrl, app.app_id, app.secret, ...args]);

  test('logs in, verifies, logs out, and is refused afterwards', async () => {
    setClock(0);
    const { username, password, hwid } = await newUser(service.api, app, { username: unique('Zoë 😀') });
    const { code, stdout, stderr } = await client('demo', username, password, hwid);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split(/\r?\n/)).toEqual(STEPS);
  });

  test('logs in with a license key', async () => {
    setClock(0);
    const [key] = await app.keys(1);
    const { code, stdout, stderr } = await client('demo-license', key!, newHwid());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split(/\r?\n/)).toEqual(STEPS);
  });

  test("reports the service's refusals", async () => {
    setClock(0);
    const { username, password, hwid } = await newUser(service.api, app);
    expect((await client('demo', username, 'wrong password', hwid)).stderr).toMatch(/^INVALID_CREDENTIALS: /);
    await client('demo', username, password, hwid);
    expect((await client('demo', username, password, newHwid())).stderr).toMatch(/^HWID_MISMATCH: /);
    const stranger = [service.baseUrl, app.app_id, `${app.secret}x`, username, password, hwid];
    const { stderr } = await program.runQuickly(['demo', ...stranger]);
    expect(stderr).toMatch(/^INVALID_APP_CREDENTIALS: /);
  });

  test('does not run behind a relay that holds a license and no secret', async () => {
    setClock(0);
    const relayed = await newApp(service.api);
    // The client is safe regardless of how the application treats unsigned requests.
    await relayed.patch({ bind_responses: false });
    const [license_key] = await relayed.keys(1);
    const url = await startRelay({ app_id: relayed.app_id, license_key, hwid: newHwid() });
    const { stdout, stderr } = await program.runQuickly([
      ...['demo', url, relayed.app_id, relayed.secret, 'ada', 'made up', newHwid()],
    ]);
    expect({ stdout, stderr }).toEqual({
      stdout: '',
      stderr: expect.stringMatching(/^RESPONSE_SIGNATURE_INVALID: /),
    });
  });

  test('works on a machine whose clock is a day behind', async () => {
    setClock(DAY);
    const { username, password, hwid } = await newUser(service.api, app);
    expect(await client('demo', username, password, hwid)).toMatchObject({ code: 0, stderr: '' });
  });
});
