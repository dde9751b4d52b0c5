import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';
import { isKnown } from '../../platform/entity-tag.ts';

/** For files whose address changes with their content. */
export const FOREVER = 'public, max-age=31536000, immutable';

/** A file that browsers load, which is compressed when it is first requested. */
export interface StaticFile {
  readonly mediaType: string;
  readonly tag: string;
  readonly content: Buffer;
  readonly compressed: Map<Encoding, Promise<Buffer>>;
}

/** Those that the service can send, best first. */
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

const BROTLI_QUALITY = 9;

const COMPRESS: Readonly<Record<Encoding, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (content) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
};

/** Responds with a file, or with 304 to a client that has it. @param headers those of the page that loads it */
export async function sendFile(
  request: Request<object>,
  response: Response,
  file: StaticFile,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  response.set({ ...headers, Vary: 'Accept-Encoding', ETag: `W/${file.tag}` });
  if (isKnown(request.headers['if-none-match'], file.tag)) return void response.status(304).end();
  const accepted = new Negotiator(request).encodings([...ENCODINGS]);
  const encoding = ENCODINGS.find((each) => accepted.includes(each));
  response.setHeader('Content-Type', file.mediaType);
  if (encoding === undefined) return void response.end(file.content);
  response.setHeader('Content-Encoding', encoding);
  response.end(await compressed(file, encoding));
}

function compressed(file: StaticFile, encoding: Encoding): Promise<Buffer> {
  const known = file.compressed.get(encoding);
  if (known) return known;
  const created = COMPRESS[encoding](file.content);
  file.compressed.set(encoding, created);
  return created;
}

/** @param compressed what is compressed already */
export function toStaticFile(
  content: string | Buffer,
  mediaType: string,
  compressed: ReadonlyMap<Encoding, Buffer> = new Map(),
): StaticFile {
  const bytes = Buffer.from(content as string);
  const tag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  const known = new Map([...compressed].map(([encoding, bytes]) => [encoding, Promise.resolve(bytes)]));
  return { mediaType, tag, content: bytes, compressed: known };
}

/** Creates each file when it is first requested. */
export function onceEach<File extends StaticFile | undefined>(
  create: (key: string) => File,
): (key: string) => File {
  const created = new Map<string, File>();
  return (key) => {
    const file = created.get(key) ?? create(key);
    if (file) created.set(key, file);
    return file;
  };
}
