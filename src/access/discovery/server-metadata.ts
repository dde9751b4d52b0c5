import { ANONYMOUS_CREDENTIALS, ASSERTION_CREDENTIALS } from '../agents/agents.ts';
import type { ServerMetadata, Sources } from './sources.ts';

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * The metadata of the authorization server (RFC 8414, OpenID Connect Discovery), with the registration of agents
 * (auth.md v0.1).
 */
export async function serverMetadata(sources: Sources): Promise<ServerMetadata> {
  const { addresses, trustsIssuers, agentRevoked } = sources;
  const own = await sources.authorizationServer();
  const grantTypes = own['grant_types_supported'] as readonly string[];
  return {
    ...own,
    // Only trusted issuers sign the assertions of this grant.
    grant_types_supported: grantTypes.filter((type) => trustsIssuers || type !== JWT_BEARER),
    ...(trustsIssuers && { authorization_grant_profiles_supported: [ID_JAG_PROFILE] }),
    service_documentation: `${addresses.web()}/auth.md`,
    agent_auth: {
      skill: `${addresses.web()}/auth.md`,
      register_uri: addresses.agentRegister(),
      claim_uri: addresses.agentClaim(),
      revocation_uri: addresses.agentRevoke(),
      identity_types_supported: ['identity_assertion', 'anonymous'],
      identity_assertion: {
        assertion_types_supported: [...(trustsIssuers ? [ID_JAG] : []), 'verified_email'],
        credential_types_supported: ASSERTION_CREDENTIALS,
      },
      anonymous: { credential_types_supported: ANONYMOUS_CREDENTIALS },
      // Only an issuer can send it.
      events_supported: trustsIssuers ? [agentRevoked()] : [],
    },
  };
}
