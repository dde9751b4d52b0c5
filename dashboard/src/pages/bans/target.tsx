import { UserLink } from '../../shell/user-link.tsx';
import type { Ban } from './queries.ts';

/** Who or what is banned. */
export function Target({ appId, ban }: { readonly appId: string; readonly ban: Ban }) {
  if (ban.network !== null) return <code title={ban.network}>{ban.network}</code>;
  if (ban.user_id === null) return <>A machine</>;
  return <UserLink appId={appId} userId={ban.user_id} />;
}
