import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { BlobsUnavailableError, openBlobs, type Blobs } from '../../src/platform/blobs/index.ts';
import { parseFilesUrl } from '../../src/platform/blobs/s3-address.ts';
import { StartupError } from '../../src/platform/startup-error.ts';
import { temporaryFolder } from '../support/processes.ts';
import { BUCKET, startS3 } from './support/s3-server.ts';

const s3 = await startS3();
const folder = join(await temporaryFolder(afterAll), 'files');
const MIB = 1024 * 1024;

async function open(
  filesUrl: string | undefined,
  atEnd: (cleanUp: () => void) => void = onTestFinished,
): Promise<Blobs> {
  const blobs = await openBlobs({ filesUrl, folder });
  atEnd(() => blobs.close());
  return blobs;
}

async function* pieces(content: Buffer, length = 65_536): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += length) yield content.subarray(start, start + length);
}

/** Content that is never in memory as a whole. */
async function* zeros(bytes: number): AsyncGenerator<Buffer> {
  const piece = Buffer.alloc(MIB);
  for (let left = bytes; left > 0; left -= MIB) yield piece.subarray(0, Math.min(MIB, left));
}

async function* broken(before: Buffer, error: Error): AsyncGenerator<Buffer> {
  yield* pieces(before);
  throw error;
}

let made = 0;
const newKey = () => `blb_${String((made += 1)).padStart(26, '0')}`;
const read = async (blobs: Blobs, key: string, start?: number, end?: number): Promise<Buffer> =>
  buffer(await blobs.open(key, start === undefined ? undefined : { start, end: end! }));
const unavailable = (work: Promise<unknown>) => expect(work).rejects.toThrow(BlobsUnavailableError);

describe.each([
  ['a folder', true, (): string | undefined => undefined],
  ['an S3 store (moto)', s3 !== undefined, () => `s3://key:secret@127.0.0.1:${s3!.port}/${BUCKET}?tls=off`],
  [
    'an S3 store (moto), behind a prefix',
    s3 !== undefined,
    () => `s3://key:secret@127.0.0.1:${s3!.port}/${BUCKET}/a/b?tls=off`,
  ],
] as const)('blobs: %s', (_title, available, url) => {
  describe.skipIf(!available)('store blobs', async () => {
    const blobs = available ? await open(url(), afterAll) : (undefined as never);

    test('says whether it is a folder', () => {
      expect(blobs.embedded).toBe(url() === undefined);
    });

    test.each([0, 1, 65_537, 5 * MIB, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB])(
      'a content of %i bytes is returned exactly',
      async (bytes) => {
        const key = newKey();
        const content = randomBytes(bytes);
        await blobs.put(key, pieces(content));
        expect((await read(blobs, key)).equals(content)).toBe(true);
      },
    );

    test('pieces of any size', async () => {
      const key = newKey();
      const content = randomBytes(20_000);
      await blobs.put(key, pieces(content, 7));
      expect(await read(blobs, key)).toEqual(content);
    });

    test.each([
      [0, 0],
      [0, 999],
      [999, 999],
      [10, 19],
    ])('a part: %i to %i', async (start, end) => {
      const key = newKey();
      const content = randomBytes(1000);
      await blobs.put(key, pieces(content));
      expect(await read(blobs, key, start, end)).toEqual(content.subarray(start, end + 1));
    });

    test('a part of a content of several parts', async () => {
      const key = newKey();
      const content = randomBytes(17 * MIB);
      await blobs.put(key, pieces(content));
      const part = await read(blobs, key, 8 * MIB - 5, 16 * MIB + 5);
      expect(part.equals(content.subarray(8 * MIB - 5, 16 * MIB + 6))).toBe(true);
    });

    test('many at once', async () => {
      const contents = Array.from({ length: 20 }, () => ({ key: newKey(), content: randomBytes(100_000) }));
      await Promise.all(contents.map(({ key, content }) => blobs.put(key, pieces(content))));
      const found = await Promise.all(contents.map(({ key }) => read(blobs, key)));
      expect(found.map(digest)).toEqual(contents.map(({ content }) => digest(content)));
    });

    test.each([
      ['at once', Buffer.alloc(0)],
      ['in the first part', randomBytes(100_000)],
      ['in a later part', randomBytes(9 * MIB)],
    ])(
      'a content that fails %s: its own error is thrown, and nothing is left after the deletion',
      async (_when, before) => {
        const key = newKey();
        const error = new Error('the client is gone');
        await expect(blobs.put(key, broken(before, error))).rejects.toBe(error);
        await blobs.delete(key);
        await unavailable(blobs.open(key));
        expect(await leftovers(key)).toBe(false);
      },
    );

    test('deleted blobs are gone, and deleting a missing one is not an error', async () => {
      const key = newKey();
      await blobs.put(key, pieces(randomBytes(10)));
      await blobs.delete(key);
      await blobs.delete(key);
      await unavailable(blobs.open(key));
      await unavailable(blobs.open(newKey()));
      expect(await leftovers(key)).toBe(false);
    });

    test('a stream that is no longer needed can be destroyed', async () => {
      const key = newKey();
      await blobs.put(key, zeros(9 * MIB));
      const stream = await blobs.open(key);
      stream.destroy();
      expect(await read(blobs, key, 0, 3)).toEqual(Buffer.alloc(4));
    });

    /** Whether the store has anything for a key. */
    async function leftovers(key: string): Promise<boolean> {
      if (url() === undefined)
        return (await readdir(folder).catch(() => [])).some((name) => name.includes(key));
      const objects = await s3!.request('GET', `/${BUCKET}?list-type=2`);
      const uploads = await s3!.request('GET', `/${BUCKET}?uploads`);
      expect([objects.status, uploads.status]).toEqual([200, 200]);
      return `${objects.text}${uploads.text}`.includes(key);
    }
  });
});

describe('a folder that cannot be used', () => {
  test('is an error of the store, for each call', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    const blobs = await openBlobs({ filesUrl: undefined, folder: join(file, 'files') });
    await unavailable(blobs.put(newKey(), pieces(randomBytes(10))));
    await unavailable(blobs.open(newKey()));
    await unavailable(blobs.delete(newKey()));
  });

  test('a full disk is reported', async () => {
    const place = await temporaryFolder();
    const key = newKey();
    await symlink('/dev/full', join(place, key));
    const blobs = await openBlobs({ filesUrl: undefined, folder: place });
    const put = blobs.put(key, pieces(randomBytes(10)));
    await expect(put).rejects.toMatchObject({ name: 'BlobsUnavailableError', full: true });
  });

  test('can be used again when it is available again', async () => {
    const place = join(await temporaryFolder(), 'deep', 'files');
    const blobs = await openBlobs({ filesUrl: undefined, folder: place });
    const [first, second] = [newKey(), newKey()];
    await blobs.put(first, pieces(randomBytes(10)));
    await rm(place, { recursive: true });
    await unavailable(blobs.open(first));
    await blobs.put(second, pieces(randomBytes(10)));
    expect(await read(blobs, second)).toHaveLength(10);
  });
});

describe('an S3 store that cannot be used', () => {
  test('an unavailable store fails at once', async () => {
    const blobs = await open('s3://key:secret@127.0.0.1:1/bucket?tls=off');
    await unavailable(blobs.put(newKey(), pieces(randomBytes(10))));
    await unavailable(blobs.open(newKey()));
    await unavailable(blobs.delete(newKey()));
  });

  test('invalid and interrupted responses fail', async () => {
    const server = createServer((socket) => void socket.end('nonsense\r\n\r\n')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const blobs = await open(`s3://key:secret@127.0.0.1:${port}/bucket?tls=off`);
    await unavailable(blobs.put(newKey(), pieces(randomBytes(10))));
    await unavailable(blobs.open(newKey()));
  });

  test.skipIf(!s3)('a missing bucket fails', async () => {
    const blobs = await open(`s3://key:secret@127.0.0.1:${s3!.port}/nothing-here?tls=off`);
    await unavailable(blobs.put(newKey(), pieces(randomBytes(10))));
    await unavailable(blobs.put(newKey(), pieces(randomBytes(9 * MIB))));
  });
});

describe('FILES_URL', () => {
  test.each([
    [
      's3://key:secret@localhost:9000/bucket?tls=off',
      { endpoint: 'http://localhost:9000', region: 'us-east-1', bucket: 'bucket', prefix: '' },
    ],
    [
      's3://k%2F1:s%40%3A@s3.eu-central-1.amazonaws.com/my.bucket/latchkey/files/?region=eu-central-1&tls=on',
      {
        endpoint: 'https://s3.eu-central-1.amazonaws.com',
        region: 'eu-central-1',
        bucket: 'my.bucket',
        prefix: 'latchkey/files/',
        credentials: { accessKeyId: 'k/1', secretAccessKey: 's@:' },
      },
    ],
    ['s3://[::1]:9000/bucket', { endpoint: 'https://[::1]:9000', credentials: undefined }],
  ])('%s', (url, address) => {
    expect(parseFilesUrl(url)).toMatchObject(address);
  });

  test.each([
    'nonsense',
    'https://key:topsecret@host/bucket',
    's3://key:topsecret@host',
    's3://key:topsecret@host/',
    's3://key:topsecret@host/b?region=eu%20west',
    's3://key:topsecret@host/bucket?tls=maybe',
    's3://key:topsecret@host/bucket?secret=topsecret',
    's3://key:topsecret@host/bucket#topsecret',
    's3://topsecret@host/bucket',
    's3://:topsecret@host/bucket',
    's3://key:topsecret%ff@host/bucket',
    's3://key:topsecret@host/bucket/a b',
    's3:///bucket',
  ])('refuses %s without revealing it', async (filesUrl) => {
    const opening = openBlobs({ filesUrl, folder });
    await expect(opening).rejects.toThrow(StartupError);
    await expect(opening).rejects.toThrow(/^FILES_URL is not an address of an S3 store/);
    await expect(opening).rejects.not.toThrow(/topsecret/);
  });
});

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
