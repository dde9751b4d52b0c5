import { CSPProvider } from '@base-ui/react/csp-provider';
import { createRootRoute, Link, Outlet, useLocation, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { forgetRequests } from '../api/request-log.ts';
import { buttonClass } from '../components/button.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Toasts } from '../components/toast.tsx';
import { CONSOLES, consoleOfPath } from './consoles.ts';
import styles from './root.module.css';
import { SignInAgain } from './sign-in-again.tsx';

/** The route of all pages, signed in or not. */
export const rootRoute = createRootRoute({
  component: Root,
  errorComponent: ({ error }) => (
    <main className={styles.alone} tabIndex={-1}>
      <h1 className="visually-hidden">Something went wrong</h1>
      <ErrorState error={error} onRetry={() => location.reload()} />
    </main>
  ),
  notFoundComponent: NotFound,
});

function NotFound() {
  const { pathname } = useLocation();
  return (
    <main className={styles.alone} tabIndex={-1}>
      <h1>Page not found</h1>
      <p>The address may be misspelled, or what it shows was deleted.</p>
      <Link to={CONSOLES[consoleOfPath(pathname)].home} className={buttonClass({ look: 'primary' })}>
        Overview
      </Link>
    </main>
  );
}

function Root() {
  usePageTitle();
  useNewPage();
  return (
    <CSPProvider disableStyleElements>
      <Outlet />
      <SignInAgain />
      <Toasts />
    </CSPProvider>
  );
}

/** The titles of the open pages, outermost first. */
export function useTitles(): readonly string[] {
  return useRouterState({
    select: ({ matches }) => matches.flatMap(({ staticData }) => staticData.title ?? []),
    structuralSharing: true,
  });
}

function usePageTitle(): void {
  const titles = useTitles();
  useEffect(() => {
    document.title = [...titles.toReversed(), 'Latchkey'].join(' · ');
  }, [titles]);
}

/** A new page begins at its main content, and its list of requests is empty. */
function useNewPage(): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useEffect(() => {
    if (path === undefined) return;
    const focused = document.activeElement;
    // Not on the first page, and not away from a field that the page has focused itself.
    if (focused && focused !== document.body && !focused.closest('main')) {
      document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    }
    return forgetRequests;
  }, [path]);
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page's part of the document's title, and its breadcrumb. */
    readonly title?: string;
  }
}
