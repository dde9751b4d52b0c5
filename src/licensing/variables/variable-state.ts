/** Who can read a variable of an application: all clients, or clients with a live session. */
export type Visibility = 'public' | 'session';

/** The maximum size of one value, in bytes of UTF-8. */
export const LARGEST_VALUE = 65_536;

/** The limits of an owner of variables. */
export interface Limit {
  readonly variables: number;
  /** The total size of all values, in bytes of UTF-8. */
  readonly bytes: number;
}

export const LIMIT_OF_APPLICATION: Limit = { variables: 1000, bytes: 1_048_576 };
export const LIMIT_OF_USER: Limit = { variables: 1000, bytes: 262_144 };

/**
 * Whether another value fits into the limits.
 * @param taken the usage of all other variables of the owner
 */
export function fits(limit: Limit, taken: Limit, bytes: number): boolean {
  return taken.variables < limit.variables && taken.bytes + bytes <= limit.bytes;
}
