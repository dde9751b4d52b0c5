/** Who sees a variable of an application: everybody, or whoever has a live session. */
export type Visibility = 'public' | 'session';

/** Bytes of one value in UTF-8. */
export const LARGEST_VALUE = 65_536;

/** How much an owner of variables may have. */
export interface Room {
  readonly variables: number;
  /** Of all values together, in UTF-8. */
  readonly bytes: number;
}

export const ROOM_OF_APPLICATION: Room = { variables: 1000, bytes: 1_048_576 };
export const ROOM_OF_USER: Room = { variables: 1000, bytes: 262_144 };

/**
 * Whether another value fits in.
 * @param taken by all other variables of the owner
 */
export function fits(room: Room, taken: Room, bytes: number): boolean {
  return taken.variables < room.variables && taken.bytes + bytes <= room.bytes;
}
