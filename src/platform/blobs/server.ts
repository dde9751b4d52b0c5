import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';
import { S3Driver } from 'flydrive/drivers/s3';
import { BlobsUnavailableError } from './errors.ts';
import type { Blobs } from './index.ts';
import { ownErrors } from './own-errors.ts';
import { inParts, PART } from './parts.ts';
import { parseFilesUrl } from './s3-address.ts';

const CONNECT_WITHIN_MS = 2_000;
/** A whole part goes out in this time; who waits for a download waits no longer than this for its beginning. */
const SENT_WITHIN_MS = 60_000;
const ANSWERED_WITHIN_MS = 5_000;
const ATTEMPTS = 2;
/** Downloads share the connections: none waits for another one. */
const CONNECTIONS = 1_000;

/**
 * Blobs as objects of a bucket.
 * @param filesUrl as in FILES_URL; its key and secret never get into an error or the log
 * @throws StartupError when the address is not one
 */
export function openServerBlobs(filesUrl: string): Blobs {
  const { endpoint, region, bucket, prefix, credentials } = parseFilesUrl(filesUrl);
  const client = new S3Client({
    endpoint,
    region,
    ...(credentials && { credentials }),
    // Other makes than Amazon's know no host names for buckets, and not all of them the newer checksums.
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN_MS,
      requestTimeout: SENT_WITHIN_MS,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: CONNECTIONS },
      httpsAgent: { maxSockets: CONNECTIONS },
    },
  });
  const driver = new S3Driver({ client, bucket, visibility: 'private', supportsACL: false });
  const keyOf = (key: string) => prefix + key;
  const objectOf = (key: string) => ({ Bucket: bucket, Key: keyOf(key) });

  async function putParts(key: string, first: Buffer, rest: AsyncIterator<Buffer>): Promise<void> {
    const object = objectOf(key);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
    const parts: CompletedPart[] = [];
    for (let part: Buffer | undefined = first; part !== undefined; part = await nextOf(rest)) {
      const PartNumber = parts.length + 1;
      const upload = { ...object, UploadId, PartNumber, Body: part };
      const { ETag } = await client.send(new UploadPartCommand(upload));
      parts.push({ PartNumber, ETag });
    }
    const whole = { ...object, UploadId, MultipartUpload: { Parts: parts } };
    await client.send(new CompleteMultipartUploadCommand(whole));
  }

  /** Parts of contents that broke off are kept by the store, out of sight, until they are given up. */
  async function abortUploads(key: string): Promise<void> {
    const wanted = keyOf(key);
    const found = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: wanted }));
    for (const { Key, UploadId } of found.Uploads ?? []) {
      if (Key === wanted)
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    }
  }

  return {
    embedded: false,

    put: (key, content) =>
      ownErrors(content, toUnavailable, async (source) => {
        const parts = inParts(source);
        try {
          const first = (await nextOf(parts)) ?? Buffer.alloc(0);
          if (first.length < PART) await driver.put(keyOf(key), first);
          else await putParts(key, first, parts);
        } finally {
          await parts.return();
        }
      }),

    async open(key, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...objectOf(key), Range }), {
          requestTimeout: ANSWERED_WITHIN_MS,
        });
        return Body as Readable;
      } catch (error) {
        throw toUnavailable(error);
      }
    },

    async delete(key) {
      try {
        await abortUploads(key);
        await driver.delete(keyOf(key));
      } catch (error) {
        throw toUnavailable(error);
      }
    },

    close: () => client.destroy(),
  };
}

async function nextOf(parts: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await parts.next();
  return done ? undefined : value;
}

function toUnavailable(error: unknown): BlobsUnavailableError {
  return new BlobsUnavailableError(error);
}
