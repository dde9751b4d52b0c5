import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { userActions, useUsersChanged } from '../users/queries.ts';

interface Props {
  readonly appId: string;
  readonly userId: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Lets the next login of a user come from another machine. */
export function ResetMachine({ appId, userId, open, onClose }: Props) {
  const changed = useUsersChanged(appId);
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title="Reset the machine?"
      description="The user's sessions end. The next login binds the user to the machine that is used then."
      action="Reset"
      onConfirm={async () => {
        await userActions(appId, userId).resetHwid();
        await changed();
        toast('Machine reset.');
      }}
    />
  );
}
