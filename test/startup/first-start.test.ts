import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openPage, startBrowser } from '../dashboard/support/browser.ts';
import { signIn } from '../dashboard/support/signed-in.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import {
  postmasterOf,
  runToEnd,
  spawnService,
  temporaryDataDir,
  temporaryFolder,
  type ServiceProcess,
} from '../support/processes.ts';
import { startTestService } from '../support/service.ts';

const run = promisify(execFile);

/** The first test starts in a new folder, the others continue there: the creation of a database is expensive. */
const dataDir = await temporaryDataDir(atFileEnd);

/** Start, restart and banner, on machines that others share. */
const READY_WITHIN_MS = 30_000;

interface Banner {
  readonly appId: string;
  readonly secret: string;
  readonly keys: string[];
  readonly developer: string;
  readonly dashboard: string;
  readonly curls: string[];
  readonly lines: string[];
}

function readBanner({ output }: Pick<ServiceProcess, 'output'>): Banner {
  const lines = output().stdout.split('\n');
  const all = (name: string) =>
    lines.filter((line) => line.startsWith(`  ${name} `)).map((line) => line.slice(2 + name.length).trim());
  return {
    appId: all('app_id')[0]!,
    secret: all('secret')[0]!,
    keys: all('license key'),
    developer: all('developer')[0]!,
    dashboard: all('dashboard')[0]!,
    curls: lines.filter((line) => /\bcurl /.test(line)),
    lines,
  };
}

/** Runs every line in its own shell, like a person who copies them one by one. @returns the outputs */
async function copyAndPaste(curls: readonly string[]): Promise<Record<string, unknown>[]> {
  const { PATH = '', HOME = '' } = process.env;
  const TMPDIR = await temporaryFolder();
  const responses: Record<string, unknown>[] = [];
  for (const line of curls) {
    const { stdout, stderr } = await run('sh', ['-c', line], {
      env: { PATH, HOME, TMPDIR },
      timeout: 30_000,
    });
    expect(stderr, line).toBe('');
    responses.push(JSON.parse(stdout) as Record<string, unknown>);
  }
  return responses;
}

async function expectTheJobToWork(banner: Banner): Promise<void> {
  const order = ['v1 init', 'v1 register', 'v2 login', 'v2 verify-session', 'v1 activate', 'v2 logout'];
  const calls = banner.curls.map((line) => /\/api\/(v\d)\/client\/([a-z-]+)/.exec(line)!);
  expect(calls.map(([, version, name]) => `${version} ${name}`)).toEqual(order);
  const [init, register, login, verify, activate, logout] = await copyAndPaste(banner.curls);
  expect(init).toMatchObject({ status: 'success', status_code: 'active' });
  expect(register).toMatchObject({ status: 'success' });
  expect(login).toMatchObject({ status: 'success', signature: expect.any(String) });
  expect(verify).toMatchObject({ status: 'success', valid: true, user_id: register!['user_id'] });
  expect(activate).toMatchObject({ status: 'success', subscription_tier: 'Standard' });
  expect(Date.parse(String(activate!['expires_at']))).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  expect(logout).toMatchObject({ status: 'success' });
}

/** Signs in to the dashboard with what the banner says, in a real browser. */
async function expectTheDashboardToWork(
  { dashboard }: Banner,
  email: string,
  password: string,
): Promise<void> {
  const browser = await startBrowser();
  const { page, faults } = await openPage(browser, { origin: new URL(dashboard).origin, now: new Date() });
  await page.goto(dashboard);
  await signIn(page, { email, password });
  await page.getByRole('link', { name: 'Demo application' }).first().waitFor();
  expect(faults).toEqual([]);
}

test(
  'a newcomer can start it, copy the lines, end it, kill it and start it again',
  { timeout: 180_000 },
  async () => {
    const environment = { DATA_DIR: dataDir, LOG_LEVEL: 'debug' };
    let began = performance.now();
    const first = await spawnService(environment);
    const times = [performance.now() - began];
    expect(times[0]).toBeLessThan(READY_WITHIN_MS);
    const banner = readBanner(first);
    expect(banner.lines.filter((line) => line === `listening on ${first.api.baseUrl}`)).toHaveLength(1);
    expect(banner.appId).toMatch(/^app_/);
    expect(banner.secret).toMatch(/^sk_/);
    expect(banner.keys).toHaveLength(3);
    for (const key of banner.keys) expect(key).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/);
    await expectTheJobToWork(banner);

    // Only the owner can read the database and the key that encrypts everything.
    expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, 'postgres'))).mode & 0o077).toBe(0);
    for (const name of await readdir(dataDir)) {
      if (name.startsWith('postgres.') || name === 'master.key')
        expect((await stat(join(dataDir, name))).mode & 0o077, name).toBe(0);
    }
    // The log contains no secrets.
    const { stdout, stderr } = first.output();
    for (const secret of [banner.secret, ...banner.keys, 'correct horse'])
      expect(stderr).not.toContain(secret);
    const adminToken = (await readFile(join(dataDir, 'admin.token'), 'utf8')).trim();
    expect(stdout + stderr).not.toContain(adminToken);

    // A second process in the same folder refuses to start, and the first one continues.
    const second = await runToEnd(environment);
    expect(second.code).toBe(1);
    expect(second.stdout).toBe('');
    expect(second.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(second.stderr).toMatch(/^latchkey: .*in use.*DATA_DIR/);
    expect(second.stderr).toContain(dataDir);
    expect((await first.api.call('GET', '/health')).status).toBe(200);

    // The developer in the banner exists.
    const [email, password] = /^(\S+) \/ (\S+)/.exec(banner.developer)!.slice(1) as [string, string];
    const developer = await first.api.post('/api/v2/dev/login', { email, password });
    expect(developer.status).toBe(200);
    await expectTheDashboardToWork(banner, email, password);
    const token = String(developer.body['token']);

    expect(await first.end('SIGTERM')).toBe(0);
    began = performance.now();
    const third = await spawnService({ ...environment, LOG_LEVEL: 'error' });
    times.push(performance.now() - began);
    const afterEnd = readBanner(third);
    expect(afterEnd).toMatchObject({ appId: banner.appId, secret: banner.secret });
    expect(afterEnd.keys).toHaveLength(3);
    expect(afterEnd.keys, 'a redeemed key is not shown').not.toContain(banner.keys[0]);
    expect(afterEnd.keys).toEqual(expect.arrayContaining(banner.keys.slice(1)));
    await expectTheJobToWork(afterEnd);
    expect((await third.api.call('GET', '/api/v2/dev/apps', undefined, { token })).status).toBe(200);

    expect(await third.end('SIGKILL')).toBeNull();
    began = performance.now();
    const fourth = await spawnService({ ...environment, LOG_LEVEL: 'error' });
    times.push(performance.now() - began);
    const afterKill = readBanner(fourth);
    expect(afterKill).toMatchObject({ appId: banner.appId, secret: banner.secret });
    expect(afterKill.keys).not.toContain(afterEnd.keys[0]);
    await expectTheJobToWork(afterKill);
    const { body } = await fourth.api.call('GET', `/api/v2/dev/apps/${banner.appId}`, undefined, { token });
    expect(body['users']).toBe(3);
    expect(await fourth.end('SIGTERM')).toBe(0);
    console.log(
      `first start ${times[0]!.toFixed(0)} ms, ` +
        `after SIGTERM ${times[1]!.toFixed(0)} ms, after kill -9 ${times[2]!.toFixed(0)} ms`,
    );
  },
);

/** Starts the service like in the README. */
async function npmStart(): Promise<{ npm: ChildProcess; address: string; ended: Promise<number | null> }> {
  const { PATH = '', HOME = '' } = process.env;
  const npm = spawn('npm', ['start'], {
    cwd: new URL('../..', import.meta.url),
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE: inject('compiled'),
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    if (npm.exitCode === null && npm.signalCode === null) process.kill(-npm.pid!, 'SIGKILL');
  });
  let stdout = '';
  const address = await new Promise<string>((resolve, reject) => {
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const address = /^listening on (.*)$/m.exec(stdout)?.[1];
      if (address) resolve(address);
    });
    npm.once('exit', (code) => reject(new Error(`npm start ended with ${code}`)));
  });
  // Its output closes when the last process with it has ended.
  const ended = new Promise<number | null>((resolve) => npm.once('close', resolve));
  return { npm, address, ended };
}

test('npm start serves, and Ctrl-C in its terminal ends all processes', async () => {
  const { npm, address, ended } = await npmStart();
  expect((await fetch(`${address}/health`)).status).toBe(200);
  process.kill(-npm.pid!, 'SIGINT');
  await ended;
  expect(await postmasterOf(dataDir)).toBeUndefined();
  // The folder is free again.
  const again = await startTestService({ DATABASE_URL: '', DATA_DIR: dataDir, MASTER_KEY: '' });
  await again.stop();
});

test('a SIGTERM to npm alone makes the service finish its requests and stop', async () => {
  const { npm, address, ended } = await npmStart();
  // The end of the body arrives after the service has started to stop.
  const login = request(`${address}/api/v2/dev/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  const response = once(login, 'response') as Promise<[IncomingMessage]>;
  login.write('{"email":"nadia@example.com",');
  await delay(200);
  npm.kill('SIGTERM');
  await delay(200);
  login.end('"password":"not the password"}');
  const [{ statusCode }] = await response;
  expect(statusCode).toBe(401);
  await ended;
  await expect.poll(() => postmasterOf(dataDir)).toBeUndefined();
});
