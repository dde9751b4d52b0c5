import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { toast } from '../../../components/toast.tsx';
import { plural } from '../../../lib/format.ts';
import { type Account, reinstate, useAccountChanged } from './queries.ts';

interface Props {
  readonly account: Account;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Ends a suspension. */
export function ReinstateDialog({ account, open, onClose }: Props) {
  const changed = useAccountChanged();
  const disabled = account.applications_disabled;
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title="Reinstate this developer?"
      description={
        'Credentials that have not expired are valid again, and waiting webhook deliveries continue.' +
        (disabled > 0 ? ` ${plural(disabled, 'application')} get the status that they had before.` : '')
      }
      action="Reinstate"
      isDangerous={false}
      onConfirm={async () => {
        await changed(await reinstate(account.developer_id));
        toast(`${account.email} is reinstated.`);
      }}
    />
  );
}
