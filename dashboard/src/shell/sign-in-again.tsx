import { useQueryClient } from '@tanstack/react-query';
import { DASHBOARD } from '../api/base.ts';
import { type BrowserSession, isSameAccount, keepSession, sessionEnd, settleSignIn } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useStore } from '../lib/store.ts';
import { CONSOLES } from './consoles.ts';
import { developerQuery, sessionQuery } from './queries.ts';
import { SignInForm } from './sign-in-form.tsx';

const openConsole = ({ kind }: BrowserSession) => location.assign(DASHBOARD + CONSOLES[kind].home);

/**
 * Opens over the page when the session has ended or another tab has replaced it, so that drafts stay and waiting
 * requests continue.
 */
export function SignInAgain() {
  const end = useStore(sessionEnd);
  const client = useQueryClient();
  const before = client.getQueryData(sessionQuery.queryKey);
  const developer = client.getQueryData(developerQuery.queryKey);
  const other = end?.replacedBy;

  const onSignedIn = (session: BrowserSession) => {
    // The page shows what belongs to the account that was signed in before.
    if (before && !isSameAccount(before, session)) return openConsole(session);
    keepSession(session);
    client.setQueryData(sessionQuery.queryKey, session);
    settleSignIn(true);
  };
  const form = (
    <SignInForm kind={before?.kind ?? 'developer'} email={developer?.email} onSignedIn={onSignedIn} />
  );
  if (other) {
    const { who, name } = CONSOLES[other.kind];
    return (
      <Dialog
        alert
        isRequired
        open
        onClose={() => openConsole(other)}
        title="Signed in as another account"
        description={
          <>
            Another tab of this browser signed in as {before?.kind === other.kind ? 'another account' : who},
            and a browser has one session. Sign in again to continue here: nothing that you entered is lost.
          </>
        }
      >
        {form}
        <Button onClick={() => openConsole(other)}>Open the {name} of the other account</Button>
      </Dialog>
    );
  }
  return (
    <Dialog
      alert
      open={end !== null}
      onClose={() => settleSignIn(false)}
      title="Sign in again"
      description="Your session has ended. Nothing that you entered is lost."
    >
      {form}
    </Dialog>
  );
}
