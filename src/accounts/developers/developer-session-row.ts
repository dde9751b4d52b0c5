/** A session of a developer: of a browser, or with a bearer token. */
export interface DeveloperSessionRow {
  readonly token_digest: Buffer;
  readonly developer_id: string;
  /** The developer's generation at the time the password was verified. */
  readonly sign_in_generation: number;
  readonly created_at: Date;
  readonly expires_at: Date;
  /** Null for a session that an earlier version opened. */
  readonly developer_session_id: string | null;
  readonly kind: 'api' | 'browser';
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly last_used_at: Date | null;
}
