import { Badge } from '../../components/badge.tsx';
import type { Delivery } from './queries.ts';

type State = Pick<Delivery, 'state' | 'attempts'>;

/** How far a delivery is. */
export function DeliveryBadge({ delivery: { state, attempts } }: { readonly delivery: State }) {
  if (state === 'succeeded') return <Badge tone="good">Succeeded</Badge>;
  if (state === 'failed') return <Badge tone="bad">Failed</Badge>;
  return attempts > 0 ? <Badge tone="warn">Retrying</Badge> : <Badge tone="accent">Pending</Badge>;
}

/** The status of the response, or why the attempt got no response. */
export function outcomeOf(of: {
  readonly response_status: number | null;
  readonly error: string | null;
}): string {
  return of.response_status === null ? (of.error ?? '—') : `HTTP ${of.response_status}`;
}
