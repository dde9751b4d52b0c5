import type { Scope } from '../../accounts/developers/developers.ts';

export type RegistrationType = 'agent-provider' | 'email-verification' | 'anonymous' | 'developer';

export interface Agent {
  readonly agentId: string;
  readonly registrationType: RegistrationType;
  readonly name: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly clientId: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** The agent that a live credential belongs to. */
export interface AgentIdentity {
  readonly agentId: string;
  /** Null until the agent is claimed. */
  readonly developerId: string | null;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** Whether the administrator has suspended the developer: the caller refuses the request. */
  readonly suspended: boolean;
}
