import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../src/app/serve.ts';
import { loadConfig } from '../../src/config/config.ts';
import { Api } from '../support/api.ts';
import { temporaryDataDir } from '../support/processes.ts';
import { collectLog } from '../support/collected-log.ts';
import { startHere } from './start-here.ts';

const PLANS = '/api/v2/admin/plans';
const statusWith = async (api: Api, token: string) =>
  (await api.call('GET', PLANS, undefined, { token })).status;

test(
  'with the embedded database, a token is created once, readable by its owner only, and never printed',
  { timeout: 180_000 },
  async () => {
    const DATA_DIR = await temporaryDataDir();
    const file = join(DATA_DIR, 'admin.token');
    const { logger, lines } = collectLog('trace');
    const { service: first, banner } = await serve(loadConfig({ DATA_DIR, PORT: '0' }), logger);
    onTestFinished(() => first.stop());
    const token = (await readFile(file, 'utf8')).trim();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const api = new Api(first.baseUrl);
    expect(await statusWith(api, token)).toBe(200);
    expect(await statusWith(api, randomBytes(32).toString('hex'))).toBe(401);
    await first.stop();
    expect(banner).toContain('license key');
    expect(lines).not.toEqual([]);
    expect(banner + lines.join('')).not.toContain(token);

    const again = await startHere({ DATA_DIR, DATABASE_URL: '', MASTER_KEY: '', ADMIN_TOKEN: '' });
    expect((await readFile(file, 'utf8')).trim()).toBe(token);
    expect(await statusWith(again.api, token)).toBe(200);
  },
);

test('with DATABASE_URL, no token is created, and no one is admitted', async () => {
  const DATA_DIR = await temporaryDataDir();
  const { api } = await startHere({ DATA_DIR, MASTER_KEY: '', ADMIN_TOKEN: '' });
  expect(await readdir(DATA_DIR)).not.toContain('admin.token');
  for (const token of ['undefined', 'null', randomBytes(32).toString('hex')])
    expect(await statusWith(api, token)).toBe(401);
  expect((await api.call('GET', PLANS)).status).toBe(401);
});

test('ADMIN_TOKEN can contain several tokens', async () => {
  const [first, second] = [randomBytes(32).toString('hex'), randomBytes(24).toString('base64')] as const;
  const { api } = await startHere({ ADMIN_TOKEN: `${first},${second}` });
  for (const token of [first, second]) expect(await statusWith(api, token)).toBe(200);
  expect(await statusWith(api, `${first},${second}`)).toBe(401);
});
