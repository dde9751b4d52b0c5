import { create as contentDisposition } from 'content-disposition';
import type { Download } from '../../src/licensing/files/files.ts';
import { cached } from '../client/cached.ts';

const MEDIA_TYPE = 'application/octet-stream';

/** Prevents browsers from showing any content as a page of this service. */
const INERT = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The response to a download: the whole content, a part of it, or that the client already has it. */
export function toContent({ file, tag, content, range }: Download) {
  const digest = `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`;
  const headers = {
    ...cached(tag),
    ...INERT,
    'Accept-Ranges': 'bytes',
    'Content-Disposition': contentDisposition(file.name),
    'Repr-Digest': digest,
    ...(file.version !== null && { 'X-File-Version': file.version }),
  };
  if (content === undefined) return { status: 304, headers } as const;
  const response = { mediaType: MEDIA_TYPE, stream: content } as const;
  if (range === undefined) {
    const whole = { ...headers, 'Content-Length': String(file.size), 'Content-Digest': digest };
    return { ...response, status: 200, headers: whole } as const;
  }
  const { start, end } = range;
  const part = {
    ...headers,
    'Content-Length': String(end - start + 1),
    'Content-Range': `bytes ${start}-${end}/${file.size}`,
  };
  return { ...response, status: 206, headers: part } as const;
}
