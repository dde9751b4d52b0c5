import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { SecurityEvents } from '../security-events/security-events.ts';
import { AssertionError, type AssertionFault, type Assertions } from './assertions.ts';
import { deleteDelegations, lockSubjectForUpdate, useAssertion } from './delegation-store.ts';
import type { Revocation } from './revocation.ts';

/** The event type of issuers that follow auth.md, accepted along with the one of this service. */
const AUTH_MD_EVENT = 'https://schemas.workos.com/events/agent/auth/identity/assertion/revoked';

/** The error codes of RFC 8935, section 2.4. */
const ERROR_CODES: Partial<Record<AssertionFault, string>> = {
  invalid_issuer: 'invalid_issuer',
  invalid_audience: 'invalid_audience',
  invalid_signature: 'authentication_failed',
  unknown_key: 'invalid_key',
};

/** Revocations that issuers send as security events. */
export interface IssuerEvents {
  /**
   * Revokes the agents of the subject that a trusted issuer names.
   * @param token a Security Event Token (RFC 8417) or a logout token
   * @throws ApiError INVALID_SECURITY_EVENT
   */
  receiveSecurityEvent(token: string, kind: 'secevent' | 'logout', client: Client): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly assertions: Pick<Assertions, 'verifyEvent'>;
  readonly revocation: Pick<Revocation, 'revokeWhere'>;
  readonly securityEvents: Pick<SecurityEvents, 'agentRevoked'>;
}

export function createIssuerEvents(deps: Dependencies): IssuerEvents {
  const { knex, assertions, revocation, securityEvents } = deps;

  async function verify(token: string, kind: 'secevent' | 'logout') {
    try {
      return await assertions.verifyEvent(token.trim(), kind, [securityEvents.agentRevoked(), AUTH_MD_EVENT]);
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      throw new ApiError('INVALID_SECURITY_EVENT', {
        detail: error.message,
        members: { err: ERROR_CODES[error.fault] ?? 'invalid_request', description: error.message },
        cause: error,
      });
    }
  }

  return {
    async receiveSecurityEvent(token, kind, { address }) {
      const event = await verify(token, kind);
      await knex.transaction(async (trx) => {
        // An issuer that got no response sends the event again.
        if (!(await useAssertion(trx, event.useDigest, event.rememberedUntil))) return;
        const { issuer, subject } = event;
        await lockSubjectForUpdate(trx, { issuer, subject });
        await deleteDelegations(trx, { issuer, subject });
        await revocation.revokeWhere(
          trx,
          { issuer, subject },
          {
            actor: (developerId) => ({ kind: 'service', id: issuer, developerId, address }),
            initiatingEntity: 'policy',
            reason: 'issuer',
          },
        );
      });
    },
  };
}
