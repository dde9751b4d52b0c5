import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { toast } from '../../components/toast.tsx';
import { fromLocalInput } from '../../lib/format.ts';
import { type User, userActions, useUsersChanged } from '../users/queries.ts';
import { ExtendDialog } from './extend-dialog.tsx';
import { ResetMachine } from './reset-machine.tsx';

interface Props {
  readonly appId: string;
  readonly user: User;
  readonly onDeleted: () => void;
}

type Open = 'extend' | 'ban' | 'hwid' | 'password' | 'delete';

/** What can be done with a user. */
export function UserActions({ appId, user, onDeleted }: Props) {
  const [open, setOpen] = useState<Open>();
  const [text, setText] = useState('');
  const [until, setUntil] = useState('');
  const actions = userActions(appId, user.user_id);
  const changed = useUsersChanged(appId);
  const show = (dialog: Open) => {
    setText('');
    setUntil('');
    setOpen(dialog);
  };
  const close = () => setOpen(undefined);
  const done = async (words: string) => {
    await changed();
    toast(words);
  };
  const unban = useMutation({ mutationFn: actions.unban, onSuccess: () => done('User unbanned.') });
  return (
    <>
      <Button look="primary" onClick={() => show('extend')}>
        Extend
      </Button>
      {user.ban ? (
        <Button busy={unban.isPending} onClick={() => unban.mutate()}>
          Unban
        </Button>
      ) : (
        <Button onClick={() => show('ban')}>Ban</Button>
      )}
      <Menu trigger={<IconButton label="More actions" icon="more" look="plain" />}>
        <MenuItem onClick={() => show('hwid')}>Reset the machine</MenuItem>
        <MenuItem onClick={() => show('password')}>Set a new password</MenuItem>
        <MenuLine />
        <MenuItem isDangerous onClick={() => show('delete')}>
          Delete the user
        </MenuItem>
      </Menu>
      <ExtendDialog appId={appId} user={user} open={open === 'extend'} onClose={close} />
      <ConfirmDialog
        open={open === 'ban'}
        onClose={close}
        title={`Ban ${user.username}?`}
        description="The user's sessions end, and the user can no longer log in."
        action="Ban"
        onConfirm={async () => {
          await actions.ban({
            ...(text && { reason: text }),
            ...(until && { expires_at: fromLocalInput(until) }),
          });
          await done('User banned.');
        }}
      >
        <Field
          label="Reason (optional)"
          value={text}
          maxLength={500}
          hint="Only you see it."
          onChange={({ target }) => setText(target.value)}
        />
        <Field
          label="Until (optional)"
          type="datetime-local"
          value={until}
          hint="Empty means until you unban the user."
          onChange={({ target }) => setUntil(target.value)}
        />
      </ConfirmDialog>
      <ResetMachine appId={appId} userId={user.user_id} open={open === 'hwid'} onClose={close} />
      <ConfirmDialog
        open={open === 'password'}
        onClose={close}
        title="Set a new password?"
        description="The user's sessions end. Give the user the new password over a safe channel."
        action="Set password"
        onConfirm={async () => {
          await actions.resetPassword(text);
          await done('Password set.');
        }}
      >
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </ConfirmDialog>
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${user.username}?`}
        description="The user's subscription, variables and sessions are deleted, too. This cannot be undone."
        action="Delete"
        typed={user.username}
        onConfirm={async () => {
          await actions.delete();
          onDeleted();
          await done('User deleted.');
        }}
      />
    </>
  );
}
