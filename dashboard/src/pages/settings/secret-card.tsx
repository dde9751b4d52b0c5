import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Callout } from '../../components/callout.tsx';
import { Card, Facts } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { RotateDialog } from '../../components/rotate-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { AppId } from '../../shell/app-id.tsx';
import { type Application, endOverlap, rotateSecret, useApplicationChanged } from './queries.ts';
import styles from './settings.module.css';

/** The longest overlap that the contract allows. */
const LONGEST_SECONDS = 30 * 86_400;

/** The secret of the application, and its replacement. */
export function SecretCard({ application }: { readonly application: Application }) {
  const [open, setOpen] = useState<'rotate' | 'end'>();
  const changed = useApplicationChanged(application.app_id);
  const until = application.previous_secret_until;
  return (
    <Card
      title="Credentials"
      description="Your program sends the app_id, and proves with the secret that it is yours."
    >
      <Facts facts={[['app_id', <AppId key="id" appId={application.app_id} />]]} />
      {until && (
        <Callout tone="warn">
          The previous secret still works for <Countdown until={until} onEnd={() => void changed()} />, until{' '}
          <Time value={until} />.
        </Callout>
      )}
      <p>The secret was shown once, when it was created. Rotate it if you lost it or others know it.</p>
      <div className={styles.row}>
        <Button onClick={() => setOpen('rotate')}>Rotate the secret</Button>
        {until && <Button onClick={() => setOpen('end')}>End the previous secret now</Button>}
      </div>
      <RotateDialog
        open={open === 'rotate'}
        onClose={() => setOpen(undefined)}
        what="secret"
        description="You get a new secret. Programs that have the previous one work as long as you choose here."
        overlap="Accept it"
        longest={LONGEST_SECONDS}
        onRotate={async (overlap) => {
          const { secret } = await rotateSecret(application.app_id, overlap);
          void changed();
          return secret;
        }}
      />
      <ConfirmDialog
        open={open === 'end'}
        onClose={() => setOpen(undefined)}
        title="End the previous secret?"
        description="Programs that still have it can no longer log users in."
        action="End it"
        onConfirm={async () => {
          await endOverlap(application.app_id);
          await changed();
          toast('The previous secret has ended.');
        }}
      />
    </Card>
  );
}
