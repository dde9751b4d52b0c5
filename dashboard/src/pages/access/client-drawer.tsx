import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useLast } from '../../lib/last.ts';
import styles from './access.module.css';
import { ClientForm } from './client-form.tsx';
import { GRANT_TYPES } from './grant-types.ts';
import {
  clientActions,
  clientQuery,
  type OAuthClient,
  useAccessChanged,
  useClientDeleted,
} from './queries.ts';

interface Props {
  readonly clientId: string | undefined;
  readonly onClose: () => void;
}

/** The details of one client, and what can be changed. */
export function ClientDrawer({ clientId, onClose }: Props) {
  const shown = useLast(clientId);
  const client = useQuery({ ...clientQuery(shown ?? ''), enabled: clientId !== undefined });
  return (
    <Dialog kind="drawer" open={clientId !== undefined} onClose={onClose} title="OAuth client">
      {client.isLoadingError ? (
        <ErrorState error={client.error} onRetry={() => void client.refetch()} />
      ) : client.data ? (
        <Details key={client.data.client_id} client={client.data} onClose={onClose} />
      ) : (
        <Loading what="the client" />
      )}
    </Dialog>
  );
}

function Details({ client, onClose }: Pick<Props, 'onClose'> & { readonly client: OAuthClient }) {
  const [open, setOpen] = useState<'rotate' | 'delete'>();
  const [secret, setSecret] = useState<string>();
  const changed = useAccessChanged();
  const deleted = useClientDeleted();
  const actions = clientActions(client.client_id);
  const isPublic = client.token_endpoint_auth_method === 'none';
  const close = () => setOpen(undefined);
  return (
    <>
      <Facts
        facts={[
          [
            'Client ID',
            <span key="id" className={styles.copied}>
              <code>{client.client_id}</code>
              <CopyButton text={client.client_id} what="client ID" />
            </span>,
          ],
          ['Authentication', <code key="method">{client.token_endpoint_auth_method}</code>],
          ['Kind', client.application_type === 'web' ? 'Web' : 'Native'],
          [
            'Gets tokens by',
            GRANT_TYPES.filter(({ value }) => client.grant_types.includes(value))
              .map(({ short }) => short)
              .join(', '),
          ],
          ['Created', <Time key="created" value={client.created_at} />],
          ['Changed', <Time key="changed" value={client.updated_at} />],
        ]}
      />
      <ClientForm client={client} />
      <div className={styles.actions}>
        {!isPublic && <Button onClick={() => setOpen('rotate')}>Rotate the secret</Button>}
        <Button look="danger" onClick={() => setOpen('delete')}>
          Delete the client
        </Button>
      </div>
      <ConfirmDialog
        open={open === 'rotate'}
        onClose={close}
        title="Rotate the client secret?"
        description={
          'You get a new secret, and the current one stops working immediately. Existing tokens ' +
          'of the client stay valid.'
        }
        action="Rotate"
        onConfirm={async () => {
          setSecret((await actions.rotateSecret()).client_secret);
          await changed();
        }}
      />
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${client.name}?`}
        description="All its tokens and authorizations end immediately. This cannot be undone."
        action="Delete"
        onConfirm={async () => {
          await actions.delete();
          onClose();
          await deleted(client.client_id);
          toast('Client deleted.');
        }}
      />
      <SecretDialog
        title="The new client secret"
        what="client secret"
        value={secret}
        onClose={() => setSecret(undefined)}
      />
    </>
  );
}
