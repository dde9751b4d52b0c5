import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { DASHBOARD } from '../../api/base.ts';
import { type BrowserSession, keepSession } from '../../api/session.ts';
import { Callout } from '../../components/callout.tsx';
import { type ConsoleKind, CONSOLES, returnPath } from '../../shell/consoles.ts';
import { Logo } from '../../shell/logo.tsx';
import { wantedConsole } from '../../shell/other-console.tsx';
import { sessionQuery } from '../../shell/queries.ts';
import { SignInForm } from '../../shell/sign-in-form.tsx';
import styles from './page.module.css';

const WORDS = {
  developer: {
    title: 'Sign in to the dashboard',
    text: 'Use the email and the password of your developer account.',
    link: 'Developer sign-in',
  },
  reseller: {
    title: 'Sign in as a reseller',
    text: 'Buy license keys, return them, and help your customers.',
    link: 'Reseller sign-in',
  },
  administrator: {
    title: 'Sign in as the administrator',
    text: 'Developers, plans, invoices and the health of this installation.',
    link: 'Administrator sign-in',
  },
} as const;
const KINDS = ['developer', 'reseller', 'administrator'] as const;

const homeOf = ({ kind }: BrowserSession) => CONSOLES[kind].home;

export const DeveloperSignIn = () => <SignInPage kind="developer" />;
export const ResellerSignIn = () => <SignInPage kind="reseller" />;
export const AdministratorSignIn = () => <SignInPage kind="administrator" />;

function SignInPage({ kind }: { readonly kind: ConsoleKind }) {
  const { return: wanted } = useSearch({ strict: false });
  const client = useQueryClient();
  const { history } = useRouter();
  const session = useQuery(sessionQuery);
  const target = returnPath(kind, wanted);

  const onSignedIn = (started: BrowserSession) => {
    // A new document holds nothing of another account.
    if (session.data) return location.replace(DASHBOARD + (started.kind === kind ? target : homeOf(started)));
    keepSession(started);
    client.setQueryData(sessionQuery.queryKey, started);
    if (started.kind === kind) return;
    wantedConsole.set(kind);
    history.replace(DASHBOARD + homeOf(started));
  };
  const isSignedIn = session.data?.kind === kind;
  useEffect(() => {
    if (!isSignedIn) return;
    wantedConsole.set(undefined);
    history.replace(DASHBOARD + target);
  }, [isSignedIn, history, target]);
  if (isSignedIn) return null;
  const { title, text } = WORDS[kind];
  return (
    <main className={styles.page}>
      <div className={styles.brand}>
        <Logo />
        Latchkey
      </div>
      <div className={styles.card}>
        <h1 className={styles.title}>{title}</h1>
        <p className={styles.words}>{text}</p>
        {session.data && <OtherSession session={session.data} />}
        <SignInForm kind={kind} onSignedIn={onSignedIn} />
      </div>
      <nav aria-label="Other sign-ins" className={styles.others}>
        {KINDS.filter((other) => other !== kind).map((other) => (
          <Link key={other} to={CONSOLES[other].signIn}>
            {WORDS[other].link}
          </Link>
        ))}
      </nav>
    </main>
  );
}

/** Says that signing in replaces the session of the browser. */
function OtherSession({ session: { kind } }: { readonly session: BrowserSession }) {
  const { home, who, name } = CONSOLES[kind];
  return (
    <div className={styles.other}>
      <Callout>
        This browser is signed in as {who}. Signing in here replaces that session in all tabs.{' '}
        <Link to={home}>Open the {name}</Link>
      </Callout>
    </div>
  );
}
