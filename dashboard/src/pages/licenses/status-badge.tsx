import { Badge, type Tone } from '../../components/badge.tsx';
import type { LicenseStatus } from './queries.ts';

const TONES: Readonly<Record<LicenseStatus, Tone>> = {
  unused: 'neutral',
  redeemed: 'good',
  paused: 'warn',
  banned: 'bad',
};

export function StatusBadge({ status }: { readonly status: LicenseStatus }) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}
