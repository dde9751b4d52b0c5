import { LIFETIME } from '../../accounts/applications/application-state.ts';

/** The orders of a list of users. */
export type UserSort = '-created_at' | 'username' | 'expires_at';

/** What places a user in the orders. */
export interface Ordered {
  readonly user_id: string;
  readonly username_key: string;
  /** On the subscription clock; after every lifetime for a user who has never had a subscription. */
  readonly subscription_ends_at: Date;
}

/** The places of users in an order, as cursors contain them. */
interface UserPlaces {
  of(user: Ordered): string;
  /** Whether a text can be a place. */
  has(text: string): boolean;
  /** The values that a place consists of, in the order of comparison. */
  valuesOf(place: string): string[];
}

const NEWEST = /^usr_[0-9a-z]{26}$/;
const NAMED = /^username ([^\u0000]+)$/;
const ENDING = /^expires_at (infinity|\d{1,15}) (usr_[0-9a-z]{26})$/;

export const userPlaces: Readonly<Record<UserSort, UserPlaces>> = {
  '-created_at': {
    // Ids sort by time of creation.
    of: ({ user_id }) => user_id,
    has: (text) => NEWEST.test(text),
    valuesOf: (place) => [place],
  },
  username: {
    of: ({ username_key }) => `username ${username_key}`,
    has: (text) => NAMED.test(text),
    valuesOf: (place) => [NAMED.exec(place)![1]!],
  },
  expires_at: {
    of: ({ subscription_ends_at: end, user_id }) =>
      `expires_at ${end > LIFETIME ? 'infinity' : end.getTime()} ${user_id}`,
    has(text) {
      const [, end] = ENDING.exec(text) ?? [];
      return end === 'infinity' || Number(end) <= LIFETIME.getTime();
    },
    valuesOf(place) {
      const [, end, userId] = ENDING.exec(place)!;
      return [end === 'infinity' ? end : new Date(Number(end)).toISOString(), userId!];
    },
  },
};
