/** S3 takes parts of 5 MiB and more, and 10,000 of them. */
export const PART = 8 * 1024 * 1024;

/** Cuts a content into parts as S3 takes them, one of which is held at a time. An empty content has none. */
export async function* inParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content) {
    pieces.push(piece);
    length += piece.length;
    if (length < PART) continue;
    yield Buffer.concat(pieces, length);
    pieces = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(pieces, length);
}
