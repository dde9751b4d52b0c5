/** The queues there are. */
export type QueueName = 'webhooks' | 'mails' | 'security-events';

export interface JobRequest {
  readonly key: string;
  /** Whether it may take long: of the places for work, slow requests get no more than half. */
  readonly slow: boolean;
  /** What the worker gets beside the key. It is kept in clear text, and for a minute after the work is done. */
  readonly payload?: string;
}

/**
 * Does the work of a key. When it throws, it is done again, as the queue's terms say: `mails` for a day, others after a
 * second.
 * @param signal aborted when this process must end: whoever throws then leaves the work to another one
 * @param payload of the request; empty when it had none
 */
export type Worker = (key: string, signal: AbortSignal, payload: string) => Promise<void>;

/** Keeps what is left of work that is not done again. @param payload as the worker's @param error why it failed */
export type GiveUp = (key: string, payload: string, error: unknown) => Promise<void>;
