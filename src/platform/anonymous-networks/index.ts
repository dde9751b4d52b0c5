import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { canonicalAddress } from '../address.ts';
import type { Logger } from '../logger.ts';
import type { AddressList } from './address-list.ts';
import { readCidrList } from './cidr-list.ts';
import { isMaxMindDatabase, readMaxMindDatabase } from './maxmind.ts';

/** Which addresses belong to VPNs, proxies, Tor exits and hosting. */
export interface AnonymousNetworks {
  /**
   * Whether an address is one of them. Private and loopback addresses are looked up like any other, IPv4-mapped IPv6 as
   * IPv4.
   * @returns undefined if unknown: there is no list, it could not be read, or the text is not an address
   */
  has(address: string): boolean | undefined;
  /**
   * Reads the file again if it has changed or could not be read before. Never throws: a fault is logged once, and the
   * last good list stays in use.
   * @returns 1 if the file was read, otherwise 0
   */
  refresh(): Promise<number>;
}

/**
 * Opens the operator's list of such networks: a text file of networks in CIDR form, or a MaxMind GeoIP2 Anonymous-IP
 * database, detected by its content. A file that cannot be read is logged as an error and does not prevent the start.
 *
 * @param options.file its path; undefined for no list
 */
export async function openAnonymousNetworks(options: {
  file: string | undefined;
  logger: Logger;
}): Promise<AnonymousNetworks> {
  const { file, logger } = options;
  let list: AddressList | undefined;
  /** The version of the file that is in use; undefined after a failure, so that the next refresh reads it again. */
  let version: string | undefined;
  let lastReported: string | undefined;

  function reportOnce(error: unknown): void {
    const { message } = error as Error;
    if (message === lastReported) return;
    lastReported = message;
    logger.error({ file, err: error }, 'the list of anonymous networks cannot be read');
  }

  async function read(path: string): Promise<number> {
    try {
      if (version !== undefined && version === versionOf(await stat(path, { bigint: true }))) return 0;
      const found = await readWhole(path);
      list = await parse(found.content);
      version = found.version;
      lastReported = undefined;
      logger.info({ file, ...list.summary }, 'the list of anonymous networks was read');
      return 1;
    } catch (error) {
      version = undefined;
      reportOnce(error);
      return 0;
    }
  }

  let reading: Promise<number> | undefined;
  const networks: AnonymousNetworks = {
    has(address) {
      const canonical = canonicalAddress(address);
      if (list === undefined || canonical === undefined) return undefined;
      try {
        return list.has(canonical);
      } catch (error) {
        // A damaged database fails only at the damaged record.
        reportOnce(error);
        return undefined;
      }
    },
    async refresh() {
      if (file === undefined) return 0;
      return (reading ??= read(file).finally(() => (reading = undefined)));
    },
  };
  await networks.refresh();
  return networks;
}

async function parse(content: Buffer): Promise<AddressList> {
  if (isMaxMindDatabase(content)) return readMaxMindDatabase(content);
  if (content.includes(0)) {
    throw new Error('it is neither a text file of networks nor a whole MaxMind database');
  }
  return readCidrList(content.toString('utf8'));
}

async function readWhole(path: string): Promise<{ content: Buffer; version: string }> {
  // Checked before opening: opening a named pipe would block until it has a writer.
  if (!(await stat(path)).isFile()) throw new Error('it is not a file');
  const handle = await open(path);
  try {
    const version = versionOf(await handle.stat({ bigint: true }));
    const content = await handle.readFile();
    if (version !== versionOf(await handle.stat({ bigint: true }))) {
      throw new Error('it was written to while it was read');
    }
    return { content, version };
  } finally {
    await handle.close();
  }
}

/** Differs for different content, even if its size is the same and it was written within the same second. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
