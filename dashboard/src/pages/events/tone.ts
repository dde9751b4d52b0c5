import type { Tone } from '../../components/badge.tsx';

const TONES: readonly (readonly [RegExp, Tone])[] = [
  [/\.(banned|deleted|refused|disabled)$|^ban\.created$/, 'bad'],
  [/\.(paused|ended|subscription_reduced|hwid_reset)$/, 'warn'],
  [/\.(created|imported|redeemed|resumed|enabled|unbanned|lifted|extended|subscription_extended)$/, 'good'],
];

/** The color next to a type, which only helps to find it. */
export function toneOf(type: string): Tone {
  return TONES.find(([pattern]) => pattern.test(type))?.[1] ?? 'neutral';
}
