export type EndReason =
  'logout' | 'replaced' | 'limit' | 'banned' | 'ended' | 'password_changed' | 'hwid_reset' | 'deleted';

export interface SessionRow {
  readonly session_digest: Buffer;
  readonly token_digest: Buffer;
  readonly app_id: string;
  readonly user_id: string;
  readonly hwid_digest: Buffer;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly end_reason: EndReason | null;
  readonly version: string | null;
  readonly address: string | null;
  /** The device whose signature every use requires. */
  readonly device_id: string | null;
  /** Null until it was verified. */
  readonly last_seen_at: Date | null;
}
