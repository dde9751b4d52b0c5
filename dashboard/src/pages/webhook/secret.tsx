import { Callout } from '../../components/callout.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { RotateDialog } from '../../components/rotate-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { useWebhooksChanged } from '../webhooks/queries.ts';
import { useOverlap, webhookActions, type WebhookPath } from './queries.ts';

/** The longest overlap that the contract allows. */
const LONGEST_SECONDS = 7 * 86_400;

interface Props {
  readonly path: WebhookPath;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Replaces the secret of an endpoint, and shows the new one once. */
export function RotateSecret({ path, open, onClose }: Props) {
  const [, remember] = useOverlap(path);
  const changed = useWebhooksChanged(path.app_id);
  return (
    <RotateDialog
      open={open}
      onClose={onClose}
      what="webhook secret"
      description="While the previous secret also signs, each request has a signature of both."
      overlap="Also sign with it"
      longest={LONGEST_SECONDS}
      onRotate={async (overlap) => {
        const { secret, previous_secret_expires_at: until } =
          await webhookActions(path).rotateSecret(overlap);
        remember(until);
        void changed();
        return secret;
      }}
    />
  );
}

/** How long the previous secret also signs. */
export function Overlap({ path }: { readonly path: WebhookPath }) {
  const [until, remember] = useOverlap(path);
  if (until === null) return null;
  return (
    <Callout tone="warn">
      The previous secret also signs for <Countdown until={until} onEnd={() => remember(null)} />, until{' '}
      <Time value={until} />. Update your receiver before then.
    </Callout>
  );
}
