import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call } from '../api/client.ts';
import { nameClass } from '../components/name.tsx';

/** A row that is scrolled past faster than this does not read its user. */
const PATIENCE_MS = 250;

interface Props {
  readonly appId: string;
  readonly userId: string;
  /** The name, if it is known: what refers to a user often has only the identifier. */
  readonly name?: unknown;
}

/** A link to a user, by name as soon as the name is known. */
export function UserLink({ appId, userId, name }: Props) {
  const isKnown = typeof name === 'string';
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  const found = useQuery({
    queryKey: ['username', userId],
    queryFn: async ({ signal }) => {
      const path = { app_id: appId, user_id: userId };
      const input = { path, signal, background: true };
      return (await call('GET /api/v2/dev/apps/{app_id}/users/{user_id}', input)).username;
    },
    enabled: isSettled && !isKnown,
    retry: false,
    staleTime: Infinity,
  });
  const shown = isKnown ? name : found.data;
  // A user of a program without accounts is called like the identifier.
  const isNamed = shown !== undefined && shown !== userId;
  return (
    <Link
      to="/apps/$appId/users/$userId"
      params={{ appId, userId }}
      className={nameClass}
      title={shown ?? userId}
    >
      {isNamed ? <bdi>{shown}</bdi> : <code>{shorten(userId)}</code>}
    </Link>
  );
}

/** The ends of an identifier: its beginning is the same for all that were created at a time. */
const shorten = (id: string) => (id.length > 16 ? `${id.slice(0, 6)}…${id.slice(-8)}` : id);
