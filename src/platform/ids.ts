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
  | 'dlv';

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
