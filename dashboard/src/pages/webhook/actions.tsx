import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { toast } from '../../components/toast.tsx';
import { useWebhooksChanged, type Webhook } from '../webhooks/queries.ts';
import { WebhookForm } from '../webhooks/webhook-form.tsx';
import { webhookActions, type WebhookPath } from './queries.ts';
import { RotateSecret } from './secret.tsx';

interface Props {
  readonly path: WebhookPath;
  readonly webhook: Webhook;
  readonly onReplay: () => void;
  readonly onTested: (deliveryId: string) => void;
  readonly onFailed: (error: unknown) => void;
  readonly onDeleted: () => void;
}

type Open = 'edit' | 'rotate' | 'disable' | 'delete';

/** What can be done with an endpoint. */
export function WebhookActions({ path, webhook, onReplay, onTested, onFailed, onDeleted }: Props) {
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const actions = webhookActions(path);
  const changed = useWebhooksChanged(path.app_id);
  const test = useMutation({
    mutationFn: actions.test,
    onSuccess: async ({ delivery_id }) => {
      await changed();
      onTested(delivery_id);
    },
    onError: onFailed,
  });
  return (
    <>
      <Button
        look="primary"
        icon="send"
        busy={test.isPending}
        disabled={!webhook.enabled}
        onClick={() => test.mutate()}
      >
        Send test
      </Button>
      <Button onClick={() => setOpen('edit')}>Edit</Button>
      <Menu trigger={<IconButton label="More actions" icon="more" look="plain" />}>
        {webhook.enabled && <MenuItem onClick={onReplay}>Replay events</MenuItem>}
        <MenuItem onClick={() => setOpen('rotate')}>Rotate the secret</MenuItem>
        {webhook.enabled && <MenuItem onClick={() => setOpen('disable')}>Disable</MenuItem>}
        <MenuLine />
        <MenuItem isDangerous onClick={() => setOpen('delete')}>
          Delete the endpoint
        </MenuItem>
      </Menu>
      <Dialog kind="wide" open={open === 'edit'} onClose={close} title="Edit the endpoint">
        <WebhookForm
          webhook={webhook}
          onSave={async (_body, changes) => {
            await actions.update(changes);
            await changed();
            toast('Endpoint saved.');
          }}
          onClose={close}
        />
      </Dialog>
      <RotateSecret path={path} open={open === 'rotate'} onClose={close} />
      <ConfirmDialog
        open={open === 'disable'}
        onClose={close}
        title="Disable this endpoint?"
        description="It receives no new events, and pending deliveries wait until you enable it again."
        action="Disable"
        isDangerous={false}
        onConfirm={async () => {
          await actions.update({ enabled: false });
          await changed();
          toast('Endpoint disabled.');
        }}
      />
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title="Delete this endpoint?"
        description="Its deliveries are deleted, too, and the service sends nothing more to it. This cannot be undone."
        action="Delete"
        onConfirm={async () => {
          await actions.delete();
          onDeleted();
          toast('Endpoint deleted.');
        }}
      />
    </>
  );
}
