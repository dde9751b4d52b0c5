import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ErrorState } from '../components/error-state.tsx';
import { Loading } from '../components/skeleton.tsx';
import { AppShell } from './app-shell.tsx';
import { type ConsoleKind, CONSOLES } from './consoles.ts';
import { type Frame, FrameContext } from './frame.ts';
import { wantedConsole } from './other-console.tsx';
import { sessionQuery } from './queries.ts';

/** Leads to the sign-in or to the console of who is signed in, or shows the page with its frame around it. */
export function ConsolePages({ frame }: { readonly frame: Frame }) {
  const session = useQuery(sessionQuery);
  if (session.isPending) return <Loading what="the dashboard" />;
  if (session.isLoadingError)
    return <ErrorState error={session.error} onRetry={() => void session.refetch()} />;
  if (!session.data) return <ToSignIn kind={frame.kind} />;
  if (session.data.kind !== frame.kind) return <ToOwnConsole wanted={frame.kind} own={session.data.kind} />;
  return (
    <FrameContext value={frame}>
      <AppShell />
    </FrameContext>
  );
}

/** Leaves for the sign-in page, which returns to the address that was wanted at first. */
function ToSignIn({ kind }: { readonly kind: ConsoleKind }) {
  const navigate = useNavigate();
  const [wanted] = useState(useLocation().href);
  const { home, signIn } = CONSOLES[kind];
  useEffect(() => {
    void navigate({ to: signIn, search: wanted === home ? {} : { return: wanted }, replace: true });
  }, [navigate, wanted, home, signIn]);
  return null;
}

/** Leaves for the console of the session, which says why. */
function ToOwnConsole({ wanted, own }: { readonly wanted: ConsoleKind; readonly own: ConsoleKind }) {
  const navigate = useNavigate();
  useEffect(() => {
    wantedConsole.set(wanted);
    void navigate({ to: CONSOLES[own].home, replace: true });
  }, [navigate, wanted, own]);
  return null;
}
