/** A part of the bench that can be run by itself. */
export type Section =
  'verify' | 'trust' | 'login' | 'activate' | 'keys' | 'events' | 'webhooks' | 'pages' | 'storm' | 'growth';

const SECTIONS: readonly Section[] = [
  'verify',
  'trust',
  'login',
  'activate',
  'keys',
  'events',
  'webhooks',
  'pages',
  'storm',
  'growth',
];

/** What is measured, how often and for how long. */
export interface Plan {
  readonly sections: ReadonlySet<Section>;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  /** Sessions in the database of all sections but growth. */
  readonly sessions: number;
  /** Sessions in the two databases that are compared. */
  readonly growth: readonly [small: number, large: number];
  /** Changes that are made one after the other, to see how long each is on its way. */
  readonly steps: number;
  readonly storm: { readonly rounds: number; readonly calmMs: number; readonly stormMs: number };
  /** When it is given up. */
  readonly stopAfterMs: number;
}

const FULL = {
  rounds: 5,
  roundMs: 2_000,
  warmUpMs: 1_500,
  sessions: 100_000,
  growth: [1_000, 5_000_000],
  steps: 100,
  storm: { rounds: 3, calmMs: 3_000, stormMs: 5_000 },
  stopAfterMs: 900_000,
} as const;

const QUICK = {
  rounds: 2,
  roundMs: 1_000,
  warmUpMs: 500,
  sessions: 100_000,
  growth: [1_000, 100_000],
  steps: 30,
  storm: { rounds: 1, calmMs: 2_000, stormMs: 3_000 },
  stopAfterMs: 300_000,
} as const;

export const USAGE = `usage: npm run bench [-- [quick] [${SECTIONS.join('] [')}]]

Without the name of a section it runs all of them. quick measures less often and for shorter, and grows to
${QUICK.growth[1].toLocaleString('en')} instead of ${FULL.growth[1].toLocaleString('en')} sessions.
`;

/**
 * @param words of the command line
 * @returns undefined when one of them means nothing
 */
export function readPlan(words: readonly string[]): Plan | undefined {
  const names = words.filter((word) => word !== 'quick');
  const sections = SECTIONS.filter((section) => names.length === 0 || names.includes(section));
  if (names.some((name) => !SECTIONS.includes(name as Section))) return undefined;
  return { ...(words.includes('quick') ? QUICK : FULL), sections: new Set(sections) };
}
