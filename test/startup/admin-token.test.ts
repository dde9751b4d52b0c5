import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import type { Api } from '../support/api.ts';
import { spawnService, temporaryDataDir } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';

const PLANS = '/api/v2/admin/plans';
const statusWith = async ({ api }: { api: Api }, token: string) =>
  (await api.call('GET', PLANS, undefined, { token })).status;

test(
  'with the embedded database, a token is created once, readable by its owner only, and never printed',
  { timeout: 180_000 },
  async () => {
    const DATA_DIR = await temporaryDataDir(atFileEnd);
    const file = join(DATA_DIR, 'admin.token');
    const first = await spawnService({ DATA_DIR, LOG_LEVEL: 'debug' });
    const token = (await readFile(file, 'utf8')).trim();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await statusWith(first, token)).toBe(200);
    expect(await statusWith(first, randomBytes(32).toString('hex'))).toBe(401);
    await first.end('SIGTERM');
    const { stdout, stderr } = first.output();
    expect(stdout + stderr).not.toContain(token);

    const again = await startTestService({ DATA_DIR, DATABASE_URL: '', MASTER_KEY: '', ADMIN_TOKEN: '' });
    expect((await readFile(file, 'utf8')).trim()).toBe(token);
    expect(await statusWith(again, token)).toBe(200);
    await again.stop();
  },
);

test('with DATABASE_URL, no token is created, and no one is admitted', { timeout: 90_000 }, async () => {
  const DATA_DIR = await temporaryDataDir(atFileEnd);
  const service = await startTestService({ DATA_DIR, MASTER_KEY: '', ADMIN_TOKEN: '' });
  expect(await readdir(DATA_DIR)).not.toContain('admin.token');
  for (const token of ['undefined', 'null', randomBytes(32).toString('hex')])
    expect(await statusWith(service, token)).toBe(401);
  expect((await service.api.call('GET', PLANS)).status).toBe(401);
});

test('ADMIN_TOKEN can contain several tokens', { timeout: 90_000 }, async () => {
  const [first, second] = [randomBytes(32).toString('hex'), randomBytes(24).toString('base64')] as const;
  const service = await startTestService({ ADMIN_TOKEN: `${first},${second}` });
  for (const token of [first, second]) expect(await statusWith(service, token)).toBe(200);
  expect(await statusWith(service, `${first},${second}`)).toBe(401);
});
