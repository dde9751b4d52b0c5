import { Badge } from '../../../components/badge.tsx';
import type { SigningKey } from './queries.ts';

const TONES = { signing: 'good', pending: 'accent', retired: 'neutral' } as const;

export const KeyState = ({ state }: Pick<SigningKey, 'state'>) => <Badge tone={TONES[state]}>{state}</Badge>;
