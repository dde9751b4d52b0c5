import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { DASHBOARD } from '../../api/base.ts';
import { type BrowserSession, keepSession } from '../../api/session.ts';
import { type ConsoleKind, CONSOLES, returnPath } from '../../shell/consoles.ts';
import { wantedConsole } from '../../shell/other-console.tsx';
import { sessionQuery } from '../../shell/queries.ts';

const homeOf = ({ kind }: BrowserSession) => CONSOLES[kind].home;

/** Leads those who are signed in to the page that they wanted. */
export function useSignedIn(kind: ConsoleKind) {
  const { return: wanted } = useSearch({ strict: false });
  const client = useQueryClient();
  const { history } = useRouter();
  const session = useQuery(sessionQuery).data;
  const target = returnPath(kind, wanted);

  const onSignedIn = (started: BrowserSession) => {
    // A new document holds nothing of another account.
    if (session) return location.replace(DASHBOARD + (started.kind === kind ? target : homeOf(started)));
    keepSession(started);
    client.setQueryData(sessionQuery.queryKey, started);
    if (started.kind === kind) return;
    wantedConsole.set(kind);
    history.replace(DASHBOARD + homeOf(started));
  };
  const isSignedIn = session?.kind === kind;
  useEffect(() => {
    if (!isSignedIn) return;
    wantedConsole.set(undefined);
    history.replace(DASHBOARD + target);
  }, [isSignedIn, history, target]);
  return { session, isSignedIn, wanted, onSignedIn };
}
