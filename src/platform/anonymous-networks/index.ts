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
   * Whether an address is one of them. Private and loopback addresses are looked up like any other, IPv4-mapped IPv6 as IPv4.
   * @returns undefined when that is not known: there is no list, it could not be read, or this is no address
   */
  has(address: string): boolean | undefined;
  /**
   * Reads the file again when it has changed or could not be read before. Never throws: what is wrong is logged once, and the
   * last good list stays.
   * @returns 1 when it was read, otherwise 0
   */
  refresh(): Promise<number>;
}

/**
 * Opens the operator's list of such networks: a text file of networks in CIDR form, or a MaxMind GeoIP2 Anonymous-IP
 * database; the content tells which. A file that cannot be read is logged as an error, and does not fail the opening.
 *
 * @param options.file its path; undefined for no list
 */
export async function openAnonymousNetworks(options: {
  file: string | undefined;
  logger: Logger;
}): Promise<AnonymousNetworks> {
  const { file, logger } = options;
  let list: AddressList | undefined;
  /** The version of the file that is in use; undefined after a failure, so that it is read again. */
  let version: string | undefined;
  let complaint: string | undefined;

  function complain(error: unknown): void {
    const { message } = error as Error;
    if (message === complaint) return;
    complaint = message;
    logger.error({ file, err: error }, 'the list of anonymous networks cannot be read');
  }

  async function read(path: string): Promise<number> {
    try {
      if (version !== undefined && version === versionOf(await stat(path, { bigint: true }))) return 0;
      const found = await readWhole(path);
      list = await parse(found.content);
      version = found.version;
      complaint = undefined;
      logger.info({ file, ...list.summary }, 'the list of anonymous networks was read');
      return 1;
    } catch (error) {
      version = undefined;
      complain(error);
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
        // A damaged database shows it where the damage is.
        complain(error);
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
  // Before it is opened: to open a pipe would wait for somebody to write.
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

/** Another one for every other content, also for one of the same size that was written within the same second. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
