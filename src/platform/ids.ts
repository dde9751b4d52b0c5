import { TypeID } from 'typeid-js';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export type IdPrefix =
  | 'app'
  | 'usr'
  | 'lic'
  | 'dev'
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

/** Makes record ids: a type prefix and a UUIDv7 in TypeID form, so that ids sort by time of creation. */
export type NewId = (prefix: IdPrefix) => string;

/** @returns a maker of ids that never go back in order within one process, even in the same millisecond */
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

/** The longest time that the clock may have been set back while ids went on from where they were. */
const SET_BACK_MS = 60_000;

/**
 * The ids of what was made from one moment until before another, as a half-open range. An id is never older than what it
 * names, if the time is read before the id is made; where the clock was set back it may be ahead, so the end leaves room
 * for a minute of that, and whoever needs the exact end asks for the time as well.
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

/** Not an id itself, but in the order of ids before all those of a millisecond, and behind those of the one before. */
function lowestId(prefix: IdPrefix, msecs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(0, msecs), 0, 6);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}
