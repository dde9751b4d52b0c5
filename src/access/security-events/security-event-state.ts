import { errorOf, isSuccess, storable, type AttemptResult } from '../../messaging/delivery/attempt-state.ts';
import { retryAt, type RetrySchedule } from '../../messaging/delivery/retry-state.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** RFC 8935 leaves the schedule open. The last retry is 3 days after the first attempt. */
const RETRIES: RetrySchedule = {
  delaysMs: [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  jitter: 0.1,
};
const MAX_FAULT_LENGTH = 500;

/** An agent that was revoked. */
export interface Revocation {
  readonly agentId: string;
  readonly developerId: string;
  /** The issuer that asserted the agent's identity. */
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly initiatingEntity: 'admin' | 'user' | 'policy' | 'system';
  readonly revokedAt: Date;
  /** In words, for the receivers. */
  readonly reason?: string | undefined;
}

/** The subject of an event, as RFC 9493 identifies subjects. */
export type SubjectId =
  | { readonly format: 'iss_sub'; readonly iss: string; readonly sub: string }
  | { readonly format: 'opaque'; readonly id: string };

/** The payload of the event `agent-revoked`. */
export interface AgentRevokedEvent {
  readonly agent_id: string;
  readonly initiating_entity: Revocation['initiatingEntity'];
  /** In seconds. */
  readonly event_timestamp: number;
  readonly reason?: string;
}

/** The agent as its issuer identifies it; by its id if it has no issuer. */
export function subjectOf({ issuer, subject, agentId }: Revocation): SubjectId {
  return issuer !== null && subject !== null
    ? { format: 'iss_sub', iss: issuer, sub: subject }
    : { format: 'opaque', id: agentId };
}

export function eventOf({ agentId, initiatingEntity, revokedAt, reason }: Revocation): AgentRevokedEvent {
  return {
    agent_id: agentId,
    initiating_entity: initiatingEntity,
    event_timestamp: Math.floor(revokedAt.getTime() / 1000),
    ...(reason !== undefined && { reason }),
  };
}

/**
 * Why an attempt failed, in words; null for a success.
 * @param secret the `Authorization` of the request, which is removed if the receiver repeats it
 */
export function faultOf(attempt: AttemptResult, secret: string | undefined): string | null {
  const refusal = refusalOf(attempt);
  if (!refusal) return errorOf(attempt);
  const words = ['The response status was 400', refusal.err, refusal.description].filter(Boolean).join(': ');
  // Without the scheme, such as `Bearer`, which is no secret.
  const hidden = secret === undefined ? undefined : secret.slice(secret.indexOf(' ') + 1) || secret;
  const shown = hidden === undefined ? words : words.replaceAll(hidden, '…');
  return storable(shown.slice(0, MAX_FAULT_LENGTH));
}

/**
 * When to retry after an attempt.
 * @param attempts how many there were, including this one
 * @param chance unpredictable, from 0 to 1
 * @returns null if the receiver accepted or refused the token, and after 3 days
 */
export function nextAttemptAt(
  attempts: number,
  attempt: AttemptResult,
  now: Date,
  chance: number,
): Date | null {
  if (isSuccess(attempt) || refusalOf(attempt)) return null;
  return retryAt(RETRIES, attempts, attempt, now, chance);
}

/**
 * The error by which a receiver permanently refuses a token (RFC 8935, section 2.3). Any other 400 may come from a
 * proxy.
 */
function refusalOf({ status, body }: AttemptResult) {
  if (status !== 400 || body === null) return undefined;
  const { err, description } = membersOf(body);
  if (typeof err !== 'string' || err === '') return undefined;
  return { err, description: typeof description === 'string' ? description : '' };
}

function membersOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
