import { Badge } from '../../components/badge.tsx';
import type { Webhook } from './queries.ts';

type State = Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since'>;

/** Whether an endpoint receives events. */
export function WebhookState({ webhook }: { readonly webhook: State }) {
  if (!webhook.enabled) {
    return webhook.disabled_reason === null ? (
      <Badge>Disabled</Badge>
    ) : (
      <Badge tone="bad">Disabled by failures</Badge>
    );
  }
  return webhook.failing_since === null ? (
    <Badge tone="good">Enabled</Badge>
  ) : (
    <Badge tone="warn">Failing</Badge>
  );
}
