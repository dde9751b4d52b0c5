import { hash, verify } from '@node-rs/argon2';
import type { Argon2 } from '../../src/foundation/passwords/passwords.ts';

const hashes = new Map<string, Promise<string>>();
const checks = new Map<string, Promise<boolean>>();

/**
 * Argon2 that computes everything once: it caches hashes of passwords and results of checks, because hashing is most of
 * the cost of a fixture.
 */
export const knownHashes: Argon2 = {
  hash: (password, options) =>
    once(hashes, JSON.stringify([String(password), options]), () => hash(password, options)),
  verify: (stored, password) =>
    once(checks, JSON.stringify([String(stored), String(password)]), () => verify(stored, password)),
};

function once<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  make: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}
