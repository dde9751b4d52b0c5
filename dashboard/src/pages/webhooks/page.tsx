import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Page } from '../../shell/page.tsx';
import { webhookColumns } from './columns.tsx';
import { createWebhook, MOST_WEBHOOKS, useWebhooks, useWebhooksChanged } from './queries.ts';
import { webhooksRoute } from './route.ts';
import { WebhookForm } from './webhook-form.tsx';

type Created = Schemas['CreateWebhookResult'];

/** The addresses that receive the events of an application. */
export function WebhooksPage() {
  const { appId } = webhooksRoute.useParams();
  const { create } = webhooksRoute.useSearch();
  const navigateHere = webhooksRoute.useNavigate();
  const navigate = useNavigate();
  const list = useWebhooks(appId);
  const changed = useWebhooksChanged(appId);
  const [created, setCreated] = useState<Created>();
  const show = (open: string) => void navigateHere({ search: { create: open }, replace: true });
  const isFull = list.items.length >= MOST_WEBHOOKS;
  const add = (
    <Button
      look="primary"
      icon="plus"
      disabled={isFull}
      title={isFull ? `An application can have ${MOST_WEBHOOKS} endpoints.` : undefined}
      onClick={() => show('yes')}
    >
      Add endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      description="Where the service sends the events of your application, signed."
      actions={add}
    >
      <DataTable
        label="endpoints"
        list={list}
        columns={webhookColumns(appId)}
        idOf={({ webhook_id }) => webhook_id}
        nameOf={({ url }) => url}
        empty={
          <EmptyState icon="webhook" title="No endpoints yet" action={add}>
            Add the address of your server or bot, and it learns of logins, redeemed keys and bans at once.
          </EmptyState>
        }
      />
      <Dialog kind="wide" open={create !== undefined} onClose={() => show('')} title="Add an endpoint">
        <WebhookForm
          onSave={async (body) => {
            setCreated(await createWebhook(appId, body));
            await changed();
          }}
          onClose={() => show('')}
        />
      </Dialog>
      <SecretDialog
        title="The secret of the endpoint"
        what="webhook secret"
        value={created?.secret}
        onClose={() => {
          const webhookId = created!.webhook_id;
          setCreated(undefined);
          void navigate({ to: '/apps/$appId/webhooks/$webhookId', params: { appId, webhookId } });
        }}
      />
    </Page>
  );
}
