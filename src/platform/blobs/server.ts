import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Blobs } from './blobs.ts';
import { withContentErrors } from './content-errors.ts';
import { BlobsUnavailableError } from './errors.ts';
import { parseFilesUrl } from './s3-address.ts';

/** S3 takes parts of 5 MiB and more, and 10,000 of them. */
const PART = 8 * 1024 * 1024;

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
  const keyOf = (key: string) => prefix + key;
  const objectOf = (key: string) => ({ Bucket: bucket, Key: keyOf(key) });

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
      withContentErrors(content, toUnavailable, async (source) => {
        const Body = Readable.from(source, { highWaterMark: 1 });
        // The upload tells of it, or has failed already.
        Body.on('error', () => {});
        // One part is held at a time. What breaks off is given up by `delete`, as it must be after a kill anyway.
        const upload = new Upload({
          client,
          params: { ...objectOf(key), Body },
          partSize: PART,
          queueSize: 1,
          leavePartsOnError: true,
        });
        try {
          await upload.done();
        } finally {
          Body.destroy();
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
        await client.send(new DeleteObjectCommand(objectOf(key)));
      } catch (error) {
        throw toUnavailable(error);
      }
    },

    close: () => client.destroy(),
  };
}

function toUnavailable(error: unknown): BlobsUnavailableError {
  return new BlobsUnavailableError(error);
}
