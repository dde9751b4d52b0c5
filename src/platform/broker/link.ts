/** What the embedded broker and a server have in common; `index.ts` builds a `Broker` from it. */
export interface Link {
  /**
   * Publishes with QoS 1. Resolves when the broker has acknowledged the message, rejects as soon as that has failed.
   * @param signal the caller has given up: a message that was not sent yet can be dropped
   */
  publish(topic: string, payload: string, signal: AbortSignal): Promise<void>;
  /** Ends the connection; never rejects. */
  close(): Promise<void>;
}

/** The one topic that a link listens to. */
export interface Subscription {
  readonly topic: string;
  /** Called with the payload of every message that the broker delivers. */
  readonly receive: (payload: string) => void;
}
