export interface DeveloperRow {
  readonly developer_id: string;
  readonly email: string;
  readonly email_key: string;
  readonly name: string | null;
  readonly password_hash: string;
  readonly plan_id: string;
  readonly created_at: Date;
  readonly email_verified_at: Date | null;
  /** False for an account that an agent opened, until its owner chooses a password. */
  readonly has_password: boolean;
  /** How many times all of the developer's sign-ins were ended at once. */
  readonly sign_in_generation: number;
  readonly suspended_at: Date | null;
  readonly suspension_reason: string | null;
}

/** A developer with what they use of their plan. */
export interface AccountRow extends Pick<
  DeveloperRow,
  'developer_id' | 'email' | 'name' | 'plan_id' | 'created_at'
> {
  readonly apps: number;
  readonly license_packs: number;
  readonly licenses_generated: number;
  readonly plan_lapsed_at: Date | null;
  readonly customer_ref: string | null;
}
