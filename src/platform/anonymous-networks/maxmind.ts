import { Reader, type AnonymousIPResponse } from 'maxmind';
import type { AddressList } from './address-list.ts';

/** Marks the start of the metadata, which is in the last 128 KiB (MaxMind DB file format, version 2.0). */
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const METADATA_BYTES = 128 * 1024;
const SEPARATOR_BYTES = 16;

/**
 * Any of these flags counts. So does hosting: VPNs whose networks are not registered under the provider's name are
 * listed only as hosting, self-hosted VPNs run there, and MaxMind's own `is_anonymous` includes it.
 */
const FLAGS = [
  'is_anonymous',
  'is_anonymous_vpn',
  'is_hosting_provider',
  'is_public_proxy',
  'is_residential_proxy',
  'is_tor_exit_node',
] as const satisfies readonly (keyof AnonymousIPResponse)[];

/** Whether a file is a MaxMind database of any type. */
export function isMaxMindDatabase(content: Buffer): boolean {
  return content.subarray(-METADATA_BYTES).includes(MARKER);
}

/**
 * Reads a GeoIP2 Anonymous-IP database.
 * @throws Error if it is a database of another type, in which no address would match, or if it is incomplete
 */
export function readMaxMindDatabase(content: Buffer): AddressList {
  const reader = read(content);
  const { databaseType, buildEpoch, ipVersion, searchTreeSize } = reader.metadata;
  if (!/anonymous/i.test(databaseType)) {
    throw new Error(`it is a MaxMind database of the type ${databaseType}, not of anonymous addresses`);
  }
  if (!(searchTreeSize + SEPARATOR_BYTES <= content.lastIndexOf(MARKER))) {
    throw new Error('it is a MaxMind database with a part missing');
  }
  return {
    summary: { type: databaseType, built: buildEpoch },
    has(address) {
      // The reader would look up IPv6 addresses in an IPv4 tree and return wrong matches.
      if (ipVersion === 4 && address.includes(':')) return false;
      const entry = reader.get(address);
      return entry !== null && FLAGS.some((flag) => entry[flag] === true);
    },
  };
}

function read(content: Buffer): Reader<AnonymousIPResponse> {
  try {
    return new Reader(content);
  } catch (cause) {
    throw new Error('it is a MaxMind database that cannot be read', { cause });
  }
}
