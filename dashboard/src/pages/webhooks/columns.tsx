import { Link } from '@tanstack/react-router';
import type { Column } from '../../components/data-table/data-table.tsx';
import { nameClass } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { plural } from '../../lib/format.ts';
import type { Webhook } from './queries.ts';
import { WebhookState } from './webhook-state.tsx';

export const typesOf = ({ types }: Pick<Webhook, 'types'>): string =>
  types.includes('*') ? 'All events' : plural(types.length, 'event type');

export const webhookColumns = (appId: string): readonly Column<Webhook>[] => [
  {
    id: 'url',
    header: 'URL',
    cell: ({ webhook_id, url }) => (
      <Link
        to="/apps/$appId/webhooks/$webhookId"
        params={{ appId, webhookId: webhook_id }}
        className={nameClass}
        title={url}
      >
        <bdi>{url}</bdi>
      </Link>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    width: '26%',
    from: 'desktop',
    cell: ({ description }) => <bdi title={description ?? undefined}>{description ?? '—'}</bdi>,
  },
  { id: 'state', header: 'State', width: '11rem', cell: (webhook) => <WebhookState webhook={webhook} /> },
  { id: 'types', header: 'Events', width: '9rem', from: 'tablet', cell: typesOf },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];
