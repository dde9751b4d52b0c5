import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { startTwoProcesses } from '../concurrency/two-processes.ts';
import {
  download,
  downloadOf,
  fileOf,
  newContent,
  putFile,
  sha256,
  upload,
} from '../operations/support/files.ts';
import { newApp, type App } from '../support/fixtures.ts';
import { spawnService, temporaryFolder, type ServiceProcess } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';
import { DAY } from '../support/clock.ts';

const PATIENCE_MS = 120_000;
const MIB = 1024 * 1024;
const dataDir = await temporaryFolder(afterAll);
const settings = { MASTER_KEY: randomBytes(32).toString('base64'), DATA_DIR: dataDir, LOG_LEVEL: 'error' };
const { services, sql, databaseUrl } = await startTwoProcesses(settings);
const [{ api }, second] = services;
const contents = () => readdir(join(dataDir, 'files'));

/** Starts an upload. The caller sends the content. */
function beginUpload(
  service: Pick<ServiceProcess, 'api'>,
  app: App,
  name: string,
  length?: number,
): ClientRequest {
  return request(service.api.baseUrl + fileOf(app, name), {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/octet-stream',
      ...(length !== undefined && { 'content-length': String(length) }),
    },
  });
}

test('files of one process can be downloaded from the other', async () => {
  const app = await newApp(api);
  const content = newContent(300_000);
  await upload(api, app, 'a', content);
  const got = await download(second.api, downloadOf(app, 'a'));
  expect(got.content.equals(content)).toBe(true);
});

test('of concurrent uploads with one name, one is stored, and readers never see a mix', async () => {
  const app = await newApp(api);
  const all = Array.from({ length: 12 }, (_, n) => newContent(200_000 + n));
  const known = new Set(all.map((content) => sha256(content)));
  await upload(api, app, 'a', all[0]!);
  let over = false;
  const seen = new Set<string>();
  const reader = (async () => {
    for (let n = 0; !over; n += 1) {
      const { status, content, headers } = await download(services[n % 2]!.api, downloadOf(app, 'a'));
      expect([status, known.has(sha256(content))]).toEqual([200, true]);
      expect(headers.get('etag')).toBe(`"${sha256(content)}"`);
      seen.add(sha256(content));
    }
  })();
  for (let round = 0; round < 3; round += 1) {
    const four = all.slice(round * 4, round * 4 + 4);
    const responses = await Promise.all(
      four.map((content, n) => putFile(services[n % 2]!.api, app, 'a', content)),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  }
  over = true;
  await reader;
  const rows = await sql('select 1 from files where app_id = $1', [app.app_id]);
  const needless = await sql('select 1 from blobs where clear_after is not null');
  expect([rows.length, needless.length]).toEqual([1, 12]);
});

test('concurrent uploads of a new name create one file', async () => {
  const app = await newApp(api);
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, n) => putFile(services[n % 2]!.api, app, 'new', newContent(1000))),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(new Set(responses.map(({ body }) => body.file_id)).size).toBe(1);
});

test(
  'kill -9 in the middle of an upload: it is not visible, and its data are deleted',
  { timeout: PATIENCE_MS },
  async () => {
    const app = await newApp(api);
    const content = newContent();
    await upload(api, app, 'a', content);
    const before = await contents();
    const victim = await spawnService({ ...settings, DATABASE_URL: databaseUrl });
    for (const name of ['a', 'b']) {
      const sent = beginUpload(victim, app, name, 50 * MIB);
      sent.on('error', () => {});
      sent.write(randomBytes(5 * MIB));
    }
    await expect.poll(async () => (await contents()).length).toBe(before.length + 2);
    expect(await victim.end('SIGKILL')).toBeNull();
    expect(await contents()).toHaveLength(before.length + 2);
    expect((await download(api, downloadOf(app, 'a'))).content).toEqual(content);
    expect((await download(api, downloadOf(app, 'b'))).status).toBe(404);
    await upload(api, app, 'b', content);

    // A node one day later.
    const later = await startTestService({ ...settings, DATABASE_URL: databaseUrl });
    const real = Date.now() - later.clock.now().getTime();
    later.clock.advance(real + DAY);
    // Its housekeeping may already be deleting some of them.
    await expect
      .poll(async () => {
        await later.services.files.clearContents();
        return (await sql('select 1 from blobs where clear_after is not null')).length;
      })
      .toBe(0);
    expect(await contents()).toHaveLength((await sql('select 1 from files')).length);
    expect((await download(api, downloadOf(app, 'b'))).content).toEqual(content);
  },
);

test(
  'files of 60 MB are uploaded and downloaded without being held in memory',
  { timeout: PATIENCE_MS },
  async () => {
    const app = await newApp(api);
    const samplesFile = join(await temporaryFolder(), 'samples');
    const service = await spawnService({
      ...settings,
      DATABASE_URL: databaseUrl,
      NODE_OPTIONS: `--import=${fileURLToPath(new URL('memory-probe.ts', import.meta.url))}`,
      MEMORY_PROBE: samplesFile,
    });
    /** The most memory in use, in MiB, in any kept sample. */
    const mostInUse = async () => {
      const samples = () => readFileSync(samplesFile, 'utf8').split('\n').filter(Boolean).map(Number);
      await expect.poll(samples).not.toEqual([]);
      return Math.max(...samples()) / MIB;
    };
    const forgetSamples = () => writeFileSync(samplesFile, '');
    const piece = randomBytes(MIB);
    const transfer = async (name: string, mebibytes: number) => {
      const sent = beginUpload(service, app, name);
      const pending = once(sent, 'response') as Promise<[IncomingMessage]>;
      const hash = createHash('sha256');
      for (let n = 0; n < mebibytes; n += 1) {
        hash.update(piece);
        if (!sent.write(piece)) await once(sent, 'drain');
      }
      sent.end();
      const [response] = await pending;
      response.resume();
      expect(response.statusCode).toBe(200);
      const received = createHash('sha256');
      const { body } = await fetch(service.api.baseUrl + downloadOf(app, name));
      for await (const part of body!) received.update(part);
      expect(received.digest('hex')).toBe(hash.digest('hex'));
    };
    await transfer('warm', 10);
    forgetSamples();
    const before = await mostInUse();
    forgetSamples();
    await transfer('large', 60);
    await Promise.all(['b', 'c', 'd'].map((name) => transfer(name, 60)));
    expect((await mostInUse()) - before).toBeLessThan(16);
  },
);

test('SIGTERM: downloads and uploads in progress are finished', { timeout: PATIENCE_MS }, async () => {
  const app = await newApp(api);
  const service = await spawnService({ ...settings, DATABASE_URL: databaseUrl });
  const content = newContent(40 * MIB);
  await upload(service.api, app, 'a', content);
  const pending = once(request(service.api.baseUrl + downloadOf(app, 'a')).end(), 'response') as Promise<
    [IncomingMessage]
  >;
  const [response] = await pending;
  const sent = beginUpload(service, app, 'b', 10);
  const uploaded = once(sent, 'response') as Promise<[IncomingMessage]>;
  const before = (await contents()).length;
  sent.write('12345');
  await expect.poll(async () => (await contents()).length).toBe(before + 1);
  const ended = service.end('SIGTERM');
  // The server no longer listens, so it is draining.
  await expect
    .poll(() =>
      fetch(`${service.api.baseUrl}/health`).then(
        () => 'responds',
        () => 'refuses',
      ),
    )
    .toBe('refuses');
  sent.end('67890');
  const received = createHash('sha256');
  for await (const part of response) received.update(part as Buffer);
  expect(received.digest('hex')).toBe(sha256(content));
  expect((await uploaded)[0].statusCode).toBe(200);
  expect(await ended).toBe(0);
  expect((await download(api, downloadOf(app, 'b'))).content.toString()).toBe('1234567890');
});

test('SIGTERM: a download that never ends does not delay the exit', { timeout: PATIENCE_MS }, async () => {
  const app = await newApp(api);
  const service = await spawnService({ ...settings, DATABASE_URL: databaseUrl });
  await upload(service.api, app, 'a', newContent(40 * MIB));
  const sent = request(service.api.baseUrl + downloadOf(app, 'a')).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  // Code 0: it ended by itself before the 10 s after which it would exit with 1.
  expect(await service.end('SIGTERM')).toBe(0);
  response.destroy();
});
