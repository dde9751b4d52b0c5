import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Card, Facts } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { Page, Stack } from '../../shell/page.tsx';
import { useWebhooksChanged, type Webhook } from '../webhooks/queries.ts';
import { WebhookState } from '../webhooks/webhook-state.tsx';
import { WebhookActions } from './actions.tsx';
import { Deliveries } from './deliveries.tsx';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { Health } from './health.tsx';
import { webhookQuery, type WebhookPath } from './queries.ts';
import { ReplayDialog } from './replay-dialog.tsx';
import { webhookRoute } from './route.ts';
import { Overlap } from './secret.tsx';
import styles from './webhook.module.css';

/** One endpoint, and what was sent to it. */
export function WebhookPage() {
  const { appId, webhookId } = webhookRoute.useParams();
  const path = { app_id: appId, webhook_id: webhookId };
  const webhook = useQuery(webhookQuery(path));
  if (webhook.isLoadingError)
    return <ErrorState error={webhook.error} onRetry={() => void webhook.refetch()} />;
  if (!webhook.data) return <Loading what="the endpoint" />;
  return <Details key={webhookId} path={path} webhook={webhook.data} />;
}

const HOUR_MS = 3_600_000;

function Details({ path, webhook }: { readonly path: WebhookPath; readonly webhook: Webhook }) {
  const search = webhookRoute.useSearch();
  const navigate = webhookRoute.useNavigate();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const changed = useWebhooksChanged(path.app_id);
  const change = useChangeSearch(webhookRoute);
  const leave = async () => {
    await navigate({ to: '/apps/$appId/webhooks', params: { appId: path.app_id }, search: {} });
    client.removeQueries({ queryKey: webhookQuery(path).queryKey });
    await changed();
  };
  return (
    <Page
      title={
        <>
          <bdi>{webhook.description ?? 'Webhook'}</bdi> <WebhookState webhook={webhook} />
        </>
      }
      description={<bdi>{webhook.url}</bdi>}
      actions={
        <WebhookActions
          path={path}
          webhook={webhook}
          onReplay={() => change({ replay: new Date(Date.now() - HOUR_MS).toISOString() })}
          onTested={(delivery) => {
            setError(undefined);
            change({ delivery });
          }}
          onFailed={setError}
          onDeleted={() => void leave()}
        />
      }
    >
      <Stack>
        {error !== undefined && <ErrorState error={error} />}
        <Health path={path} webhook={webhook} onEnabled={(replay) => change({ replay })} />
        <Overlap path={path} />
        <Card title="Endpoint">
          <Facts
            facts={[
              ['Events', <Types key="types" types={webhook.types} />],
              ['Created', <Time key="created" value={webhook.created_at} />],
              ['Changed', <Time key="updated" value={webhook.updated_at} />],
              ['Identifier', <code key="id">{webhook.webhook_id}</code>],
            ]}
          />
        </Card>
        <Deliveries path={path} search={search} onChange={change} />
      </Stack>
      <DeliveryDrawer
        path={path}
        deliveryId={search.delivery}
        onOpen={(delivery) => change({ delivery })}
        onClose={() => change({ delivery: '' })}
      />
      <ReplayDialog path={path} since={toTime(search.replay)} onClose={() => change({ replay: '' })} />
    </Page>
  );
}

/** The time that the address has, if it is one. */
const toTime = (value: string | undefined) =>
  value !== undefined && !Number.isNaN(Date.parse(value)) ? value : undefined;

function Types({ types }: { readonly types: readonly string[] }) {
  if (types.includes('*')) return <>All events, including those of later versions</>;
  return (
    <span className={styles.types}>
      {types.map((type) => (
        <Badge key={type}>
          <code>{type}</code>
        </Badge>
      ))}
    </span>
  );
}
