import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button, buttonClass } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icon.tsx';
import { classes } from '../../lib/classes.ts';
import { Connect } from '../connect/lazy-connect.tsx';
import styles from './get-started.module.css';
import { Joy } from './joy.tsx';
import type { Overview } from './queries.ts';

interface Props {
  readonly steps: Overview['get_started'];
  readonly appId: string | undefined;
  readonly onCreate: () => void;
}

/** The way from a new account to the first login. It stays until the reader has seen the last step complete. */
export function GetStarted(props: Props) {
  const { login } = props.steps;
  const [wasOpen, setWasOpen] = useState(!login);
  const [isHidden, setHidden] = useState(false);
  if (!login && !wasOpen) setWasOpen(true);
  if (isHidden || !wasOpen) return null;
  return <Steps {...props} onHide={() => setHidden(true)} />;
}

function Steps({ steps, appId, onCreate, onHide }: Props & { readonly onHide: () => void }) {
  const [chosen, choose] = useState<boolean>();
  const canConnect = appId !== undefined && !steps.login;
  // With a key, the login is what comes next.
  const isConnecting = canConnect && (chosen ?? steps.license);
  return (
    <Card
      title={steps.login ? 'Your program is connected' : 'Get started'}
      description={
        steps.login ? 'The first login has arrived.' : 'Four steps to the first login of your program.'
      }
      actions={steps.login && <Button onClick={onHide}>Hide</Button>}
    >
      {steps.login && <Joy />}
      <p className="visually-hidden" role="status">
        {steps.login ? 'The first login has arrived.' : ''}
      </p>
      <ol className={styles.steps}>
        <Step
          isDone={steps.application}
          title="Create an application"
          text="It gives your program an app_id and a secret."
          action={<Button onClick={onCreate}>Create</Button>}
        />
        <Step
          isDone={steps.license}
          title="Create a license key"
          text="A user redeems it for time in a tier."
          action={
            appId && (
              <Link
                to="/apps/$appId/licenses"
                params={{ appId }}
                search={{ create: 'yes' }}
                className={buttonClass()}
              >
                Create keys
              </Link>
            )
          }
        />
        <Step
          isDone={steps.user}
          title="Add a user"
          text="Users register in your program, or you add them."
          action={
            appId && (
              <Link
                to="/apps/$appId/users"
                params={{ appId }}
                search={{ create: 'yes' }}
                className={buttonClass()}
              >
                Add user
              </Link>
            )
          }
        />
        <Step
          isDone={steps.login}
          title="Log in from your program"
          text={
            steps.login
              ? 'The first user has logged in.'
              : 'This step completes by itself when the first login arrives.'
          }
          isWaiting={steps.application && !steps.login}
          action={
            canConnect && (
              <Button aria-expanded={isConnecting} onClick={() => choose(!isConnecting)}>
                {isConnecting ? 'Hide the example' : 'Show an example'}
              </Button>
            )
          }
        />
      </ol>
      {isConnecting && <Connect appId={appId} />}
    </Card>
  );
}

interface StepProps {
  readonly isDone: boolean;
  readonly title: string;
  readonly text: string;
  readonly action?: ReactNode;
  /** Whether the page itself waits for it. */
  readonly isWaiting?: boolean;
}

function Step({ isDone, title, text, action, isWaiting }: StepProps) {
  return (
    <li className={classes(styles.step, isDone && styles.done, isWaiting && styles.waiting)}>
      <span className={styles.mark}>{isDone && <Icon name="check" />}</span>
      <div className={styles.words}>
        <p className={styles.title}>
          {title}
          <span className="visually-hidden">{isDone ? ' (done)' : ' (to do)'}</span>
        </p>
        <p className={styles.text}>{text}</p>
      </div>
      {!isDone && action}
    </li>
  );
}
