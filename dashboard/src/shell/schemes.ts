import type { Scheme } from '../design/scheme.ts';

/** The colors to choose from. */
export const SCHEMES: readonly (readonly [Scheme, string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];
