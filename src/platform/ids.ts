import { TypeID } from 'typeid-js';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export type IdPrefix =
  | 'app'
  | 'usr'
  | 'lic'
  | 'dev'
  | 'dvs'
  | 'ban'
  | 'node'
  | 'evt'
  | 'aud'
  | 'tok'
  | 'rsl'
  | 'led'
  | 'fil'
  | 'blb'
  | 'var'
  | 'whk'
  | 'dlv'
  | 'plan'
  | 'chk'
  | 'sub'
  | 'inv'
  | 'pay'
  | 'agt'
  | 'rcv'
  | 'set'
  | 'cli'
  | 'grt'
  | 'mail';

/** Creates record ids: a type prefix and a UUIDv7 in TypeID form, so that ids sort by time of creation. */
export type NewId = (prefix: IdPrefix) => string;

/** @returns a generator of ids that increase strictly within one process, even in the same millisecond */
export function createNewId(clock: Clock, random: Random): NewId {
  let last = { msecs: -1, seq: 0 };
  return (prefix) => {
    const msecs = clock.now().getTime();
    last =
      msecs > last.msecs
        ? { msecs, seq: random.bytes(4).readUInt32BE() >>> 1 }
        : { msecs: last.msecs, seq: last.seq + 1 };
    const uuid = uuidv7({ msecs: last.msecs, seq: last.seq, random: random.bytes(16) }, new Uint8Array(16));
    return TypeID.fromUUIDBytes(prefix, uuid).toString();
  };
}

/** The longest time that the clock may have been set back while ids continued to increase. */
const SET_BACK_MS = 60_000;

/**
 * The half-open range of the ids of records that were created between two times. An id is never older than its record
 * if the time is read before the id is generated. If the clock was set back, an id may be ahead, so the end of the
 * range allows for one minute of that; a query that needs the exact end also compares the time.
 */
export function idRange(
  prefix: IdPrefix,
  { since, until }: { readonly since?: Date | undefined; readonly until?: Date | undefined },
): { readonly from: string | undefined; readonly below: string | undefined } {
  return {
    from: since && lowestId(prefix, since.getTime()),
    below: until && lowestId(prefix, until.getTime() + SET_BACK_MS),
  };
}

/** A bound, not an id: it sorts before all ids of a millisecond and after those of the previous one. */
function lowestId(prefix: IdPrefix, msecs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(0, msecs), 0, 6);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

/** 128 bits in the base32 of Crockford, in lower case. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The text form of any 16 bytes, like that of an id. */
export function toIdText(prefix: string, bytes: Buffer): string {
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

/** The bytes of such a text; undefined if it is not valid. */
export function fromIdText(prefix: string, text: string): Buffer | undefined {
  const beginning = `${prefix}_`;
  if (!text.startsWith(beginning) || !SUFFIX.test(text.slice(beginning.length))) return undefined;
  return Buffer.from(TypeID.fromString(text).toUUIDBytes());
}
