import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Name } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { CreateReceiverDialog } from './create-receiver-dialog.tsx';
import { deleteReceiver, type Receiver, useAccessChanged, useReceivers } from './queries.ts';
import { accessRoute } from './route.ts';
import { Section } from '../../shell/section.tsx';

/** The outcome of the last delivery. */
function Delivery({ receiver }: { readonly receiver: Receiver }) {
  const { last_delivered_at: delivered, last_failed_at: failed, last_fault: fault } = receiver;
  if (failed && (!delivered || failed > delivered)) {
    return (
      <span title={fault ?? undefined}>
        <Badge tone="bad">failing</Badge> {fault}
      </span>
    );
  }
  if (!delivered) return <Badge>none yet</Badge>;
  return (
    <>
      <Badge tone="good">delivered</Badge> <Time value={delivered} form="relative" />
    </>
  );
}

const columns = (remove: (receiver: Receiver) => void): readonly Column<Receiver>[] => [
  { id: 'url', header: 'URL', cell: ({ url }) => <Name>{url}</Name> },
  {
    id: 'audience',
    header: 'Audience',
    width: '22%',
    from: 'desktop',
    cell: ({ audience }) => <Name>{audience}</Name>,
  },
  {
    id: 'state',
    header: 'Last delivery',
    width: '34%',
    cell: (receiver) => <Delivery receiver={receiver} />,
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'actions',
    header: 'Delete',
    width: '4.5rem',
    cell: (receiver) => (
      <IconButton label={`Delete ${receiver.url}`} icon="close" onClick={() => remove(receiver)} />
    ),
  },
];

/** Who learns that an agent was revoked. */
export function Receivers() {
  const { create } = accessRoute.useSearch();
  const change = useChangeSearch(accessRoute);
  const list = useReceivers();
  const changed = useAccessChanged();
  const [removed, setRemoved] = useState<Receiver>();
  const button = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Add receiver
    </Button>
  );
  return (
    <Section
      description={
        'Each revocation of one of your agents is sent to these URLs as a signed Security Event ' +
        'Token (RFC 8417), with retries for 3 days.'
      }
      actions={list.items.length > 0 && button}
    >
      <DataTable
        label="receivers"
        list={list}
        columns={columns(setRemoved)}
        idOf={({ receiver_id }) => receiver_id}
        nameOf={({ url }) => url}
        empty={
          <EmptyState icon="lock" title="No receivers" action={button}>
            Add the endpoint of your identity provider or gateway, so that it stops trusting an agent when you
            revoke it.
          </EmptyState>
        }
      />
      <CreateReceiverDialog open={create !== undefined} onClose={() => change({ create: '' })} />
      <ConfirmDialog
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title="Delete this receiver?"
        description={`${removed?.url ?? ''} gets no more security events, not even pending ones.`}
        action="Delete"
        onConfirm={async () => {
          await deleteReceiver(removed!.receiver_id);
          await changed();
          toast('Receiver deleted.');
        }}
      />
    </Section>
  );
}
