/** The queues. */
export type QueueName = 'webhooks' | 'mails' | 'security-events';

export interface JobRequest {
  readonly key: string;
  /** Whether it may take long: slow requests use at most half of the concurrency. */
  readonly slow: boolean;
  /** Passed to the worker with the key. It is stored in plain text until a minute after the work is done. */
  readonly payload?: string;
}

/**
 * Does the work of a key. If it throws, it is retried: `mails` with a backoff for a day, others after a second.
 * @param signal aborted when this process must end: a worker that throws then leaves the work to another process
 * @param payload of the request; empty if it had none
 */
export type Worker = (key: string, signal: AbortSignal, payload: string) => Promise<void>;

/** Records work that is not retried. @param payload of the request @param error why it failed */
export type GiveUp = (key: string, payload: string, error: unknown) => Promise<void>;
