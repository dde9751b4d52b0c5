import type { Readable } from 'node:stream';

/** A part of a blob: both ends count. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Keeps contents under keys. Keys are our own ids: nothing that a client says becomes a name in the store. Whether a content
 * is whole is known to whoever has put it: one that broke off may be there in part until it is deleted.
 */
export interface Blobs {
  /** Whether it is a folder of this machine. */
  readonly embedded: boolean;
  /**
   * Stores a content without ever holding the whole of it. Once this resolves it survives a loss of power.
   * @param content each key gets one content, once
   * @throws BlobsUnavailableError, and whatever the content throws
   */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Opens a content, or a part of one that is not empty. Whoever gets the stream must read it to its end or destroy it.
   * @throws BlobsUnavailableError also when there is no content under the key
   */
  open(key: string, range?: ByteRange): Promise<Readable>;
  /** Deletes a content, and what is left of one that broke off; it is no error when there is none. @throws BlobsUnavailableError */
  delete(key: string): Promise<void>;
  /** Ends the connections. */
  close(): void;
}
