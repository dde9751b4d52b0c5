import { useState } from 'react';
import { Checkbox, TextArea } from '../../../components/field.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { toast } from '../../../components/toast.tsx';
import { plural } from '../../../lib/format.ts';
import { type Account, suspend, useAccountChanged } from './queries.ts';

interface Props {
  readonly account: Account;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Suspends a developer, or changes the reason and the effect of a suspension. */
export function SuspendDialog({ account, open, onClose }: Props) {
  const isSuspended = account.account_status === 'suspended';
  const [reason, setReason] = useState(account.suspension_reason ?? '');
  const [isDisabling, setIsDisabling] = useState(false);
  const changed = useAccountChanged();
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={isSuspended ? 'Change the suspension?' : 'Suspend this developer?'}
      description={
        <>
          All sessions and tokens of <bdi>{account.email}</bdi>, of their resellers and of their agents are
          refused, and webhooks receive nothing. Nothing is deleted, and a subscription continues.
        </>
      }
      action={isSuspended ? 'Save' : 'Suspend'}
      onConfirm={async () => {
        const body = { ...(reason.trim() && { reason: reason.trim() }), disable_applications: isDisabling };
        await changed(await suspend(account.developer_id, body));
        toast(`${account.email} is suspended.`);
      }}
    >
      <TextArea
        label="Reason (optional)"
        value={reason}
        maxLength={500}
        hint="It is in both audit logs, so the developer can read it after the suspension."
        onChange={({ target }) => setReason(target.value)}
      />
      <Checkbox
        label="Disable the applications, too"
        checked={isDisabling}
        hint={
          `Programs of end users stop working (${plural(account.apps, 'application')}). Without it, they keep ` +
          'working. Reinstating the account restores each application as it was.'
        }
        onChange={({ target }) => setIsDisabling(target.checked)}
      />
    </ConfirmDialog>
  );
}
