/** An event as it is recorded with its change. */
export interface EventRow {
  readonly event_id: string;
  readonly app_id: string;
  readonly type: string;
  /**
   * Its recipients in addition to the developer, according to the version that wrote it; null from older
   * versions.
   */
  readonly audience: string | null;
  readonly user_id: string | null;
  readonly session_digest: Buffer | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

/** An event with its position in the order of publication. */
export interface NumberedRow extends EventRow {
  readonly position: number;
}
