import { useMutation } from '@tanstack/react-query';
import { Button } from '../../components/button.tsx';
import { Callout } from '../../components/callout.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useWebhooksChanged, type Webhook } from '../webhooks/queries.ts';
import { webhookActions, type WebhookPath } from './queries.ts';
import styles from './webhook.module.css';

interface Props {
  readonly path: WebhookPath;
  readonly webhook: Webhook;
  /** Offers the events that the endpoint missed. @param since the first of them */
  readonly onEnabled: (since: string) => void;
}

/** Why an endpoint receives nothing, or soon will not, and how to fix it. */
export function Health({ path, webhook, onEnabled }: Props) {
  const changed = useWebhooksChanged(path.app_id);
  const missedSince = webhook.failing_since ?? webhook.disabled_at ?? webhook.updated_at;
  const enabling = useMutation({
    mutationFn: () => webhookActions(path).update({ enabled: true }),
    onSuccess: async () => {
      await changed();
      toast('Endpoint enabled.');
      onEnabled(missedSince);
    },
  });
  if (webhook.enabled && webhook.failing_since === null) return null;
  if (webhook.enabled) {
    return (
      <Callout tone="warn">
        No delivery has succeeded since <Time value={webhook.failing_since} />. The service tries again, and
        disables the endpoint after 3 days without a success. The deliveries below say what is wrong.
      </Callout>
    );
  }
  return (
    <Callout tone={webhook.disabled_reason === null ? 'info' : 'bad'}>
      <div className={styles.problem}>
        <div>
          {webhook.disabled_reason === null ? (
            <p>This endpoint is disabled. It receives no events until you enable it.</p>
          ) : (
            <>
              <p>
                The service disabled this endpoint on <Time value={webhook.disabled_at} />:{' '}
                <bdi>{webhook.disabled_reason}</bdi>
              </p>
              <p>
                Correct what is wrong, then enable the endpoint. You can then send the events that it missed.
              </p>
            </>
          )}
        </div>
        <Button look="primary" busy={enabling.isPending} onClick={() => enabling.mutate()}>
          Enable
        </Button>
      </div>
      {enabling.error && <ErrorState error={enabling.error} compact />}
    </Callout>
  );
}
