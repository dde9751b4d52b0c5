import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { BrowserSession } from '../../api/session.ts';
import { Callout } from '../../components/callout.tsx';
import { CONSOLES } from '../../shell/consoles.ts';
import { Logo } from '../../shell/logo.tsx';
import styles from './page.module.css';

interface Props {
  readonly title: string;
  readonly text: string;
  /** The session that this browser already has. */
  readonly session: BrowserSession | null | undefined;
  /** The form. */
  readonly children: ReactNode;
  /** Links to the other sign-ins. */
  readonly links: ReactNode;
}

/** A page for those who are not signed in: the form in the middle, other sign-ins below it. */
export function Frame({ title, text, session, children, links }: Props) {
  return (
    <main className={styles.page}>
      <div className={styles.brand}>
        <Logo />
        Latchkey
      </div>
      <div className={styles.card}>
        <h1 className={styles.title}>{title}</h1>
        <p className={styles.words}>{text}</p>
        {session && <OtherSession session={session} />}
        {children}
      </div>
      <nav aria-label="Other sign-ins" className={styles.others}>
        {links}
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
