import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { tooLarge, assertMediaType } from '../transport/request-body.ts';
import { BUFFERED_BYTES, STORED_BYTES } from '../transport/upload-pace.ts';
import { readUpload } from '../transport/upload.ts';
import { bodyLimitOf, mediaTypesOfBody } from './body-limit.ts';
import type { Exchange } from './exchange.ts';
import { takesKeys } from './idempotency.ts';
import { UploadMemoryBudget } from './upload-memory-budget.ts';

/** Request bodies that are not JSON. */
export class Uploads {
  readonly #memory = new UploadMemoryBudget();

  /**
   * Opens the body of a request. An operation with an `Idempotency-Key` runs in one transaction, which must not wait
   * for the client, so its body is buffered. When a key is sent, the whole body is read first, because its hash shows
   * whether a repeated request is the same.
   * @param owner the developer whose share of the memory is used
   * @returns the body in parts; it fails with ApiError PAYLOAD_TOO_LARGE above the limit of the operation,
   *   MALFORMED_REQUEST when it is incomplete, REQUEST_TIMEOUT when it is too slow, and the errors of
   *   UploadMemoryBudget.buffer
   * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
   */
  async open(exchange: Exchange, owner: string): Promise<AsyncIterable<Uint8Array>> {
    const { operation, request } = exchange;
    const { headers } = request;
    const limit = bodyLimitOf(operation);
    assertMediaType(request, mediaTypesOfBody(operation));
    if (Number(headers['content-length'] ?? 0) > limit) {
      request.resume();
      throw tooLarge(limit);
    }
    if (!takesKeys(operation)) return readUpload(request, limit, STORED_BYTES);
    const blocks = this.#memory.buffer(exchange, owner, readUpload(request, limit, BUFFERED_BYTES));
    if (headers['idempotency-key'] === undefined) return blocks;
    const hash = createHash('sha256');
    const parts: Uint8Array[] = [];
    for await (const block of blocks) {
      hash.update(block);
      parts.push(block);
    }
    exchange.bytes = hash.digest();
    return Readable.from(parts);
  }

  /** Frees the memory of a request's body, if it uses any. */
  release(exchange: Exchange): void {
    this.#memory.release(exchange);
  }
}
