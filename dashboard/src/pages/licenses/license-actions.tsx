import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Checkbox, Field } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import styles from './license-drawer.module.css';
import { type License, licenseActions, useLicensesChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly license: License;
  readonly onDeleted: () => void;
}

/** The buttons of a license. What cannot be undone, or affects a user, needs a confirmation. */
export function LicenseActions({ appId, license, onDeleted }: Props) {
  const [open, setOpen] = useState<'ban' | 'transfer' | 'delete'>();
  const [text, setText] = useState('');
  const [banUser, setBanUser] = useState(false);
  const actions = licenseActions(appId, license.license_id);
  const changed = useLicensesChanged(appId);
  const direct = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'unban') => actions[action](),
    onSuccess: changed,
  });

  const show = (dialog: typeof open) => {
    setText('');
    setBanUser(false);
    setOpen(dialog);
  };
  const close = () => setOpen(undefined);
  const then = (words: string) => async () => {
    await changed();
    toast(words);
  };
  const { status } = license;
  return (
    <>
      <div className={styles.actions}>
        {(status === 'unused' || status === 'redeemed') && (
          <Button busy={direct.isPending} onClick={() => direct.mutate('pause')}>
            Pause
          </Button>
        )}
        {status === 'redeemed' && <Button onClick={() => show('transfer')}>Transfer</Button>}
        {status === 'paused' && (
          <Button busy={direct.isPending} onClick={() => direct.mutate('resume')}>
            Resume
          </Button>
        )}
        {status === 'banned' ? (
          <Button busy={direct.isPending} onClick={() => direct.mutate('unban')}>
            Unban
          </Button>
        ) : (
          <Button onClick={() => show('ban')}>Ban</Button>
        )}
        {status === 'unused' && <Button onClick={() => show('delete')}>Delete</Button>}
      </div>
      {direct.error && <ErrorState error={direct.error} compact />}
      <ConfirmDialog
        open={open === 'ban'}
        onClose={close}
        title="Ban this license?"
        description="It can no longer be redeemed or log in. A user who redeemed it keeps what it added."
        action="Ban"
        onConfirm={() =>
          actions.ban({ ban_user: banUser, ...(text && { reason: text }) }).then(then('License banned.'))
        }
      >
        <Field
          label="Reason (optional)"
          value={text}
          maxLength={500}
          onChange={({ target }) => setText(target.value)}
        />
        {license.redeemed_by && (
          <Checkbox
            label="Also ban the user who redeemed it"
            checked={banUser}
            onChange={({ target }) => setBanUser(target.checked)}
          />
        )}
      </ConfirmDialog>
      <ConfirmDialog
        open={open === 'transfer'}
        onClose={close}
        title="Transfer this license?"
        description={`The remaining time moves from ${license.redeemed_by ?? 'its user'} to another user.`}
        action="Transfer"
        isDangerous={false}
        onConfirm={() => actions.transfer(text).then(then('License transferred.'))}
      >
        <Field
          label="Username"
          value={text}
          autoComplete="off"
          onChange={({ target }) => setText(target.value)}
        />
      </ConfirmDialog>
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title="Delete this license?"
        description="A deleted key cannot be restored."
        action="Delete"
        onConfirm={async () => {
          await actions.delete();
          onDeleted();
          await then('License deleted.')();
        }}
      />
    </>
  );
}
