import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { toast } from '../../components/toast.tsx';
import { type Reseller, useResellersChanged } from '../resellers/queries.ts';
import { BalanceDialog } from './balance-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { resellerActions, resellerQuery } from './queries.ts';

interface Props {
  readonly reseller: Reseller;
  readonly onDeleted: () => Promise<void>;
}

type Open = 'credit' | 'debit' | 'edit' | 'suspend' | 'reinstate' | 'delete';

/** What can be done with a reseller. */
export function ResellerActions({ reseller, onDeleted }: Props) {
  const [open, setOpen] = useState<Open>();
  const actions = resellerActions(reseller.reseller_id);
  const changed = useResellersChanged();
  const client = useQueryClient();
  const close = () => setOpen(undefined);
  return (
    <>
      <Button look="primary" onClick={() => setOpen('credit')}>
        Credit
      </Button>
      <Button onClick={() => setOpen('debit')}>Debit</Button>
      {reseller.suspended && <Button onClick={() => setOpen('reinstate')}>Reinstate</Button>}
      <Menu trigger={<IconButton label="More actions" icon="more" look="plain" />}>
        <MenuItem onClick={() => setOpen('edit')}>Edit the name and commission</MenuItem>
        {!reseller.suspended && <MenuItem onClick={() => setOpen('suspend')}>Suspend the reseller</MenuItem>}
        <MenuLine />
        <MenuItem isDangerous onClick={() => setOpen('delete')}>
          Delete the reseller
        </MenuItem>
      </Menu>
      <BalanceDialog kind="credit" reseller={reseller} open={open === 'credit'} onClose={close} />
      <BalanceDialog kind="debit" reseller={reseller} open={open === 'debit'} onClose={close} />
      <EditDialog reseller={reseller} open={open === 'edit'} onClose={close} />
      <ConfirmDialog
        open={open === 'suspend'}
        onClose={close}
        title={`Suspend ${reseller.name}?`}
        description={
          'The reseller can still look at everything, but cannot buy or return keys. Keys that ' +
          'they sold still work. You can reinstate them at any time.'
        }
        action="Suspend"
        onConfirm={async () => {
          await actions.update({ suspended: true });
          await changed();
          toast('Reseller suspended.');
        }}
      />
      <ConfirmDialog
        open={open === 'reinstate'}
        onClose={close}
        title={`Reinstate ${reseller.name}?`}
        description="The reseller can buy and return keys again."
        action="Reinstate"
        isDangerous={false}
        onConfirm={async () => {
          await actions.update({ suspended: false });
          await changed();
          toast('Reseller reinstated.');
        }}
      />
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${reseller.name}?`}
        description="Their tokens stop working immediately. Keys that they sold still work. This cannot be undone."
        action="Delete"
        onConfirm={async () => {
          await actions.delete();
          await onDeleted();
          client.removeQueries({ queryKey: resellerQuery(reseller.reseller_id).queryKey });
          await changed();
          toast('Reseller deleted.');
        }}
      />
    </>
  );
}
