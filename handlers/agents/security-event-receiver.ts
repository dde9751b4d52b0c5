import type { components } from '../../generated/types.ts';
import type { Receiver } from '../../src/access/security-events/security-events.ts';

/** A receiver of security events as the contract shows it. */
export function toReceiver(receiver: Receiver): components['schemas']['SecurityEventReceiver'] {
  return {
    receiver_id: receiver.receiverId,
    url: receiver.url,
    audience: receiver.audience,
    created_at: receiver.createdAt.toISOString(),
    last_delivered_at: receiver.lastDeliveredAt?.toISOString() ?? null,
    last_failed_at: receiver.lastFailedAt?.toISOString() ?? null,
    last_fault: receiver.lastFault,
  };
}
