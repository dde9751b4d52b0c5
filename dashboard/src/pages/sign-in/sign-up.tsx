import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useRef } from 'react';
import { call } from '../../api/client.ts';
import { asProblem } from '../../api/problem.ts';
import { type BrowserSession, signIn } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { useDraft } from '../../lib/draft.ts';
import { CONSOLES } from '../../shell/consoles.ts';
import { Frame } from './frame.tsx';
import styles from './page.module.css';
import { useSignedIn } from './use-signed-in.ts';

/** Creates the account of a developer. */
export function SignUpPage() {
  const { session, isSignedIn, wanted, onSignedIn } = useSignedIn('developer');
  if (isSignedIn) return null;
  return (
    <Frame
      title="Create an account"
      text="You start on the free plan, and can change it later."
      session={session}
      links={<Link to={CONSOLES.reseller.signIn}>Reseller sign-in</Link>}
    >
      <SignUpForm onSignedIn={onSignedIn} />
      <p className={styles.switch}>
        Already have an account?{' '}
        <Link to={CONSOLES.developer.signIn} search={wanted === undefined ? {} : { return: wanted }}>
          Sign in
        </Link>
      </p>
    </Frame>
  );
}

interface Draft {
  readonly email: string;
  readonly password: string;
  readonly name: string;
}

/** Registers a developer, and then starts a browser session, because the token of the registration is for programs. */
function useSignUp(onSignedIn: (session: BrowserSession) => void) {
  const registered = useRef<string>(undefined);
  return useMutation({
    mutationFn: async ({ email, password, name }: Draft) => {
      // An account that was created before its sign-in failed is not created again.
      if (registered.current !== email) {
        const body = { email, password, ...(name.trim() && { name: name.trim() }) };
        await call('POST /api/v2/dev/register', { body, once: true, background: true });
        registered.current = email;
      }
      return signIn({ email, password });
    },
    onSuccess: onSignedIn,
  });
}

function SignUpForm({ onSignedIn }: { readonly onSignedIn: (session: BrowserSession) => void }) {
  const { draft, text } = useDraft<Draft>({ email: '', password: '', name: '' });
  const creation = useSignUp(onSignedIn);
  const problem = creation.error ? asProblem(creation.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!creation.isPending) creation.mutate(draft);
  };
  return (
    <Form onSubmit={submit}>
      <Field
        label="Email"
        type="email"
        autoComplete="username"
        required
        autoFocus
        maxLength={254}
        error={problem?.fieldError('email')}
        {...text('email')}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        maxLength={128}
        hint="At least 8 characters."
        error={problem?.fieldError('password')}
        {...text('password')}
      />
      <Field
        label="Name (optional)"
        autoComplete="name"
        maxLength={100}
        error={problem?.fieldError('name')}
        {...text('name')}
      />
      {creation.error && <ErrorState error={creation.error} compact />}
      <Button type="submit" look="primary" busy={creation.isPending}>
        Create account
      </Button>
    </Form>
  );
}
