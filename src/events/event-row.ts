/** An event as its change writes it. */
export interface EventRow {
  readonly event_id: string;
  readonly app_id: string;
  readonly type: string;
  /** Whom it tells besides the developer, as the version that wrote it knows; null from versions that did not say. */
  readonly audience: string | null;
  readonly user_id: string | null;
  readonly session_digest: Buffer | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

/** An event with its place in the order of publication. */
export interface NumberedRow extends EventRow {
  readonly position: number;
}
