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

/** S3 accepts up to 10,000 parts of at least 5 MiB. */
const PART = 8 * 1024 * 1024;

const CONNECT_TIMEOUT_MS = 2_000;
/** For the upload of a whole part. */
const SEND_TIMEOUT_MS = 60_000;
const RESPONSE_TIMEOUT_MS = 5_000;
const ATTEMPTS = 2;
/** Enough that no download waits for another one. */
const CONNECTIONS = 1_000;

/**
 * Stores blobs as objects of a bucket.
 * @param filesUrl as in FILES_URL; its key and secret never appear in an error or the log
 * @throws StartupError if the address is not valid
 */
export function openServerBlobs(filesUrl: string): Blobs {
  const { endpoint, region, bucket, prefix, credentials } = parseFilesUrl(filesUrl);
  const client = new S3Client({
    endpoint,
    region,
    ...(credentials && { credentials }),
    // Stores other than Amazon's do not support host names of buckets, and some do not support the newer checksums.
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: SEND_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: CONNECTIONS },
      httpsAgent: { maxSockets: CONNECTIONS },
    },
  });
  const keyOf = (key: string) => prefix + key;
  const objectOf = (key: string) => ({ Bucket: bucket, Key: keyOf(key) });

  /** The store keeps the invisible parts of interrupted uploads until they are aborted. */
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
        // The upload reports the error, or has failed already.
        Body.on('error', () => {});
        // Buffers one part at a time. `delete` aborts an interrupted upload, as it must after a crash anyway.
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
          requestTimeout: RESPONSE_TIMEOUT_MS,
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
