import type { Readable } from 'node:stream';

/** A part of a blob, with both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Stores contents under keys. Keys are our own ids, never input of a client. The store does not know whether a content
 * is complete: an interrupted one may remain in part until the caller deletes it.
 */
export interface Blobs {
  /** Whether it is a folder on this machine. */
  readonly embedded: boolean;
  /**
   * Stores a content without buffering all of it. Once this resolves, the content survives a power loss.
   * @param content each key has one content, stored once
   * @throws BlobsUnavailableError, and any error of the content
   */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Opens a content, or a part of one that is not empty. The caller must read the stream to its end or destroy it.
   * @throws BlobsUnavailableError also if there is no content under the key
   */
  open(key: string, range?: ByteRange): Promise<Readable>;
  /** Deletes a content or the rest of an interrupted one, if it exists. @throws BlobsUnavailableError */
  delete(key: string): Promise<void>;
  /** Closes the connections. */
  close(): void;
}
