import { Badge } from '../../components/badge.tsx';
import type { User } from './queries.ts';

/** A user's state in a word: a ban counts before the subscription. */
export function UserState({ user }: { readonly user: User }) {
  if (user.ban) return <Badge tone="bad">banned</Badge>;
  const { subscription_status: status } = user.subscription;
  if (status === 'active') return <Badge tone="good">active</Badge>;
  return (
    <Badge tone={status === 'expired' ? 'warn' : 'neutral'}>
      {status === 'none' ? 'no subscription' : status}
    </Badge>
  );
}
