import { errorOf, isSuccess, retryAt, storable, type Attempt } from '../dispatch/attempt-state.ts';

const LONGEST_FAULT = 500;

/** An agent that was revoked. */
export interface Revocation {
  readonly agentId: string;
  readonly developerId: string;
  /** Of the issuer that had asserted its identity. */
  readonly issuer: string | null;
  readonly subject: string | null;
  /** By whom. */
  readonly initiatingEntity: 'admin' | 'user' | 'policy' | 'system';
  readonly revokedAt: Date;
  /** In words, for those who are told. */
  readonly reason?: string | undefined;
}

/** Whom an event is about, as RFC 9493 names subjects. */
export type SubjectId =
  | { readonly format: 'iss_sub'; readonly iss: string; readonly sub: string }
  | { readonly format: 'opaque'; readonly id: string };

/** What `agent-revoked` tells. */
export interface AgentRevokedEvent {
  readonly agent_id: string;
  readonly initiating_entity: Revocation['initiatingEntity'];
  /** In seconds. */
  readonly event_timestamp: number;
  readonly reason?: string;
}

/** The agent as its issuer knows it, where there is one. */
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
 * What was wrong with an attempt, in words; null when nothing was.
 * @param secret the `Authorization` that was sent, which must not come back in the receiver's own words
 */
export function faultOf(attempt: Attempt, secret: string | undefined): string | null {
  const refusal = refusalOf(attempt);
  if (!refusal) return errorOf(attempt);
  const words = ['The answer was 400', refusal.err, refusal.description].filter(Boolean).join(': ');
  // Without its scheme, if it has one: `Bearer` is no secret.
  const hidden = secret === undefined ? undefined : secret.slice(secret.indexOf(' ') + 1) || secret;
  const shown = hidden === undefined ? words : words.replaceAll(hidden, '…');
  return storable(shown.slice(0, LONGEST_FAULT));
}

/**
 * When to send again after an attempt.
 * @param attempts how many there were, this one among them
 * @param chance from 0 to 1, unpredictable
 * @returns null when the token was taken or refused, and after 3 days
 */
export function nextAttemptAt(attempts: number, attempt: Attempt, now: Date, chance: number): Date | null {
  if (isSuccess(attempt) || refusalOf(attempt)) return null;
  return retryAt(attempts, attempt, now, chance);
}

/** How a receiver says that it will never take a token (RFC 8935, section 2.3); any other 400 may be somebody else's. */
function refusalOf({ status, body }: Attempt) {
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
