import { Webhook } from 'standardwebhooks';
import type { Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';

const SECRET_BYTES = 32;

/** A new signing secret in the format of Standard Webhooks. */
export function newSecret(random: Random): string {
  return `whsec_${random.bytes(SECRET_BYTES).toString('base64')}`;
}

/** The context under which the current and the previous secret of an endpoint are sealed. */
export function secretContext(webhookId: string): string {
  return `webhook-secret:${webhookId}`;
}

interface Secrets {
  readonly webhook_id: string;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_expires_at: Date | null;
}

/** Opens the secrets that sign now: the current one, and during the overlap of a rotation the previous one as well. */
export function openSecrets(keyring: Keyring, webhook: Secrets, now: Date): string[] {
  const { secret_sealed, previous_secret_sealed: previous, previous_secret_expires_at: expiresAt } = webhook;
  const sealed = [secret_sealed, ...(previous && expiresAt && now < expiresAt ? [previous] : [])];
  return sealed.map((each) => keyring.open(each, secretContext(webhook.webhook_id)).toString());
}

/** The headers of a message as Standard Webhooks defines them. */
export function signedHeaders(
  secrets: readonly string[],
  messageId: string,
  payload: string,
  now: Date,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Latchkey-Webhooks/2',
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(messageId, now, payload)).join(' '),
  };
}
