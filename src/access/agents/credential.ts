import type { Scope } from '../../accounts/developers/developers.ts';
import type { CredentialType } from './credential-types.ts';

/** What an agent authenticates with. */
export interface Credential {
  readonly type: CredentialType;
  /** The secret, shown once. */
  readonly credential: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
}

/** A credential without its secret. */
export interface LiveCredential extends Omit<Credential, 'credential'> {
  readonly createdAt: Date;
}
