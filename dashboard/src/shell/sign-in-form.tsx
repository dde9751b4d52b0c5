import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { BASE } from '../api/base.ts';
import { inOtherWords } from '../api/in-other-words.ts';
import { type BrowserSession, signIn } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Field } from '../components/field.tsx';
import type { ConsoleKind } from './consoles.ts';
import styles from './sign-in-form.module.css';

interface Props {
  readonly kind: ConsoleKind;
  /** The developer whose session has ended. */
  readonly email?: string | undefined;
  readonly onSignedIn: (session: BrowserSession) => void;
}

/** Starts a browser session. */
export function SignInForm({ kind, ...props }: Props) {
  return kind === 'developer' ? <PasswordForm {...props} /> : <TokenForm kind={kind} {...props} />;
}

/** Developers have no name to sign in with. */
const WORDS = { INVALID_CREDENTIALS: { detail: 'The email or the password is wrong.' } };

function PasswordForm({ email: known = '', onSignedIn }: Omit<Props, 'kind'>) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const attempt = useMutation({ mutationFn: signIn, onSuccess: onSignedIn });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    attempt.mutate({ email, password });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <Field
        label="Email"
        type="email"
        autoComplete="username"
        required
        autoFocus={known === ''}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        autoFocus={known !== ''}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      {attempt.error && <ErrorState error={inOtherWords(attempt.error, WORDS)} compact />}
      <Button type="submit" look="primary" busy={attempt.isPending}>
        Sign in
      </Button>
      <p className={styles.forgotten}>
        <a href={`${BASE}/account/password`}>Forgot your password?</a>
      </p>
    </form>
  );
}

const TOKENS = {
  reseller: {
    label: 'Reseller token',
    hint: 'You get this token from the developer whose keys you sell. Only they can replace a lost one.',
  },
  administrator: {
    label: 'Administrator token',
    hint: (
      <>
        The setting <code>ADMIN_TOKEN</code> of this installation. With the embedded database and without the
        setting, it is in the file <code>admin.token</code> of the data folder.
      </>
    ),
  },
} as const;

function TokenForm({ kind, onSignedIn }: { readonly kind: keyof typeof TOKENS } & Omit<Props, 'kind'>) {
  const [token, setToken] = useState('');
  const attempt = useMutation({ mutationFn: signIn, onSuccess: onSignedIn });
  const { label, hint } = TOKENS[kind];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    attempt.mutate({ token: token.trim() });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      {/* Password managers keep the token under this name, apart from passwords of the same host. */}
      <input type="text" name="username" autoComplete="username" value={kind} readOnly hidden />
      <Field
        label={label}
        type="password"
        name="password"
        autoComplete="current-password"
        required
        autoFocus
        maxLength={1024}
        value={token}
        hint={hint}
        onChange={(event) => setToken(event.target.value)}
      />
      {attempt.error && <ErrorState error={attempt.error} compact />}
      <Button type="submit" look="primary" busy={attempt.isPending}>
        Sign in
      </Button>
    </form>
  );
}
