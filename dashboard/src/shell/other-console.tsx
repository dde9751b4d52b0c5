import { Link } from '@tanstack/react-router';
import { Callout } from '../components/callout.tsx';
import { IconButton } from '../components/button.tsx';
import { createStore, useStore } from '../lib/store.ts';
import { type ConsoleKind, CONSOLES } from './consoles.ts';
import styles from './other-console.module.css';

/** The console that was wanted, if the session is of another kind. */
export const wantedConsole = createStore<ConsoleKind | undefined>(undefined);

/** Says why another console than the wanted one is open. */
export function OtherConsole({ own }: { readonly own: ConsoleKind }) {
  const wanted = useStore(wantedConsole);
  if (wanted === undefined || wanted === own) return null;
  return (
    <div className={styles.remark}>
      <Callout>
        <div className={styles.words}>
          <p>
            This browser is signed in as {CONSOLES[own].who}, so the {CONSOLES[own].name} is open instead of
            the {CONSOLES[wanted].name}.{' '}
            <Link to={CONSOLES[wanted].signIn}>Sign in as {CONSOLES[wanted].who}</Link>
          </p>
          <IconButton label="Dismiss" icon="close" onClick={() => wantedConsole.set(undefined)} />
        </div>
      </Callout>
    </div>
  );
}
