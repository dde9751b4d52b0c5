import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/card.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { prettyJson } from '../../lib/json.ts';
import { useLast } from '../../lib/last.ts';
import { useWebhooksChanged } from '../webhooks/queries.ts';
import { DeliveryBadge, outcomeOf } from './delivery-state.tsx';
import { type DeliveryDetails, deliveryQuery, webhookActions, type WebhookPath } from './queries.ts';
import styles from './webhook.module.css';

interface Props {
  readonly path: WebhookPath;
  /** The drawer is open while there is one. */
  readonly deliveryId: string | undefined;
  readonly onOpen: (deliveryId: string) => void;
  readonly onClose: () => void;
}

/** One delivery: its payload, every attempt, and another delivery of the same event. */
export function DeliveryDrawer({ path, deliveryId, onOpen, onClose }: Props) {
  const shown = useLast(deliveryId);
  const delivery = useQuery({ ...deliveryQuery(path, shown ?? ''), enabled: deliveryId !== undefined });
  return (
    <Dialog
      kind="drawer"
      open={deliveryId !== undefined}
      onClose={onClose}
      title={delivery.data ? delivery.data.event.type : 'Delivery'}
    >
      {delivery.isLoadingError ? (
        <ErrorState error={delivery.error} onRetry={() => void delivery.refetch()} />
      ) : delivery.data ? (
        <Details key={delivery.data.delivery_id} path={path} delivery={delivery.data} onOpen={onOpen} />
      ) : (
        <Loading what="the delivery" />
      )}
    </Dialog>
  );
}

interface DetailsProps {
  readonly path: WebhookPath;
  readonly delivery: DeliveryDetails;
  readonly onOpen: (deliveryId: string) => void;
}

function Details({ path, delivery, onOpen }: DetailsProps) {
  const changed = useWebhooksChanged(path.app_id);
  // The list and the endpoint's state follow what the drawer has seen.
  const [first] = useState(delivery.state);
  useEffect(() => {
    if (delivery.state !== first) void changed();
  }, [delivery.state, first]);
  const replay = useMutation({
    mutationFn: () => webhookActions(path).replayDelivery(delivery.delivery_id),
    onSuccess: async ({ delivery_id }) => {
      await changed();
      toast('Sent again as a new delivery.');
      onOpen(delivery_id);
    },
  });
  return (
    <>
      <div className={styles.row}>
        <Button icon="send" busy={replay.isPending} onClick={() => replay.mutate()}>
          Send again
        </Button>
      </div>
      {replay.error && <ErrorState error={replay.error} compact />}
      <Facts
        facts={[
          ['State', <DeliveryBadge key="state" delivery={delivery} />],
          ['Cause', { event: 'An event', replay: 'A replay', test: 'A test' }[delivery.cause]],
          ...(delivery.next_attempt_at
            ? [['Next attempt', <Time key="next" value={delivery.next_attempt_at} />] as const]
            : []),
          ['Created', <Time key="created" value={delivery.created_at} />],
          ['Event', <code key="event">{delivery.event.id}</code>],
          ['Delivery', <code key="delivery">{delivery.delivery_id}</code>],
        ]}
      />
      <h3>Attempts</h3>
      {delivery.attempt_log.length === 0 ? (
        <p role="status">The first attempt is about to begin.</p>
      ) : (
        <ol className={styles.attempts}>
          {delivery.attempt_log.toReversed().map((attempt) => (
            <Attempt key={attempt.attempt} attempt={attempt} />
          ))}
        </ol>
      )}
      <h3>Payload</h3>
      <CodeBlock what="payload" text={prettyJson(delivery.payload) ?? delivery.payload} />
    </>
  );
}

function Attempt({ attempt }: { readonly attempt: DeliveryDetails['attempt_log'][number] }) {
  const { response_status: status, response_body: body } = attempt;
  const isSuccess = status !== null && status >= 200 && status < 300;
  return (
    <li className={styles.attempt} data-outcome={isSuccess ? 'good' : 'bad'}>
      <p className={styles.attemptHead}>
        <strong>
          {attempt.attempt}. {outcomeOf(attempt)}
        </strong>
        <span>
          <Time value={attempt.attempted_at} />, {attempt.duration_ms} ms
        </span>
      </p>
      {status !== null && attempt.error && <p>{attempt.error}</p>}
      {body && <CodeBlock what={`response to attempt ${attempt.attempt}`} text={prettyJson(body) ?? body} />}
    </li>
  );
}
