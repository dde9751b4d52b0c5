import { Link } from '@tanstack/react-router';
import { type ConsoleKind, CONSOLES } from '../../shell/consoles.ts';
import { SignInForm } from '../../shell/sign-in-form.tsx';
import { Frame } from './frame.tsx';
import styles from './page.module.css';
import { useSignedIn } from './use-signed-in.ts';

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

export const DeveloperSignIn = () => <SignInPage kind="developer" />;
export const ResellerSignIn = () => <SignInPage kind="reseller" />;
export const AdministratorSignIn = () => <SignInPage kind="administrator" />;

function SignInPage({ kind }: { readonly kind: ConsoleKind }) {
  const { session, isSignedIn, wanted, onSignedIn } = useSignedIn(kind);
  if (isSignedIn) return null;
  return (
    <Frame
      {...WORDS[kind]}
      session={session}
      links={KINDS.filter((other) => other !== kind).map((other) => (
        <Link key={other} to={CONSOLES[other].signIn}>
          {WORDS[other].link}
        </Link>
      ))}
    >
      <SignInForm kind={kind} onSignedIn={onSignedIn} />
      {kind === 'developer' && (
        <p className={styles.switch}>
          No account yet?{' '}
          <Link to="/sign-up" search={wanted === undefined ? {} : { return: wanted }}>
            Create an account
          </Link>
        </p>
      )}
    </Frame>
  );
}
