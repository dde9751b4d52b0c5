/** What an operator wants to see of an installation. Null is unknown, because a part did not respond. */
export interface InstallationState {
  readonly nodes: readonly {
    readonly nodeId: string;
    readonly state: 'alive' | 'lost';
    readonly isCurrent: boolean;
    /** Null for an older version. */
    readonly version: string | null;
    readonly startedAt: Date | null;
    readonly seenAt: Date;
  }[];
  readonly database: {
    readonly isOperational: boolean;
    readonly embedded: boolean;
    readonly version: string | null;
    readonly sizeBytes: number | null;
    readonly migration: string | null;
    readonly pendingMigrations: number | null;
    readonly awaitsStandby: boolean | null;
    readonly clockSkewSeconds: number;
  };
  readonly broker: { readonly isOperational: boolean; readonly embedded: boolean };
  readonly queues: {
    readonly eventsWaiting: number | null;
    readonly eventsSetAside: number | null;
    readonly brokerEventsWaiting: number | null;
    readonly brokerEventsSetAside: number | null;
    readonly webhookDeliveriesWaiting: number | null;
    readonly securityEventsSetAside: number | null;
    readonly paymentEventsSetAside: number | null;
    readonly failedMails: number | null;
  };
}
