/** What the embedded broker and a server have in common; `index.ts` makes a `Broker` of it. */
export interface Link {
  /**
   * Publishes with QoS 1; resolves when the broker has taken the message, rejects as soon as it is known that it has not.
   * @param signal nobody waits any more: what was not sent yet need not be
   */
  publish(topic: string, payload: string, signal: AbortSignal): Promise<void>;
  /** Ends it; never rejects. */
  close(): Promise<void>;
}

/** The one topic that a link listens to. */
export interface Subscription {
  readonly topic: string;
  /** Called with the payload of every message that the broker passes on. */
  readonly receive: (payload: string) => void;
}
