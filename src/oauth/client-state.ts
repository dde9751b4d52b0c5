import { isLoopback, redirectUriFault } from '../platform/redirect-uri-state.ts';

/** What the authorization server needs to know of a client: metadata of RFC 7591. */
export interface RegisteredMetadata {
  readonly client_name?: unknown;
  readonly grant_types?: readonly string[] | undefined;
  readonly redirect_uris?: readonly string[] | undefined;
  readonly post_logout_redirect_uris?: readonly string[] | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

export interface ClientFault {
  /** The member that is at fault. */
  readonly member: string;
  /** Words that complete "… must". */
  readonly detail: string;
}

/** What everybody may register by himself: nothing that acts without somebody's consent. */
const SELF_REGISTERED = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
];
const NEEDS_SECRET = ['client_credentials', 'urn:ietf:params:oauth:grant-type:jwt-bearer'];

/**
 * What is wrong with a client beyond what the protocol's own schema demands.
 * @param before the metadata that an update starts from: URIs in it may stay, because they may be older than the rule for them,
 *   which authorization applies to every URI
 */
export function clientFault(
  metadata: RegisteredMetadata,
  before: RegisteredMetadata = {},
): ClientFault | undefined {
  const grantTypes = metadata.grant_types ?? [];
  const redirectUris = metadata.redirect_uris ?? [];
  if (grantTypes.includes('authorization_code') && redirectUris.length === 0) {
    return { member: 'redirect_uris', detail: 'must have an address for authorization_code' };
  }
  if (grantTypes.includes('refresh_token') && !SELF_REGISTERED.some(isRefreshed(grantTypes))) {
    return { member: 'grant_types', detail: 'must have a type that refresh_token goes on from' };
  }
  if (
    metadata.token_endpoint_auth_method === 'none' &&
    NEEDS_SECRET.some((type) => grantTypes.includes(type))
  ) {
    return {
      member: 'token_endpoint_auth_method',
      detail: 'must not be none for a client that acts by itself',
    };
  }
  for (const member of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    const added = (metadata[member] ?? []).filter((uri) => !before[member]?.includes(uri));
    const [detail] = added.flatMap((uri) => redirectUriFault(uri) ?? []);
    if (detail !== undefined) return { member, detail };
  }
  return undefined;
}

/** What is wrong with a client that registers itself, beside its name. */
export function selfRegisteredFault(metadata: RegisteredMetadata): ClientFault | undefined {
  if ((metadata.grant_types ?? []).some((type) => !SELF_REGISTERED.includes(type))) {
    return { member: 'grant_types', detail: `must only have ${SELF_REGISTERED.join(', ')}` };
  }
  return clientFault(metadata);
}

function isRefreshed(grantTypes: readonly string[]) {
  return (type: string) => type !== 'refresh_token' && grantTypes.includes(type);
}

/**
 * Whether an address is a registered one of this machine but for its port, which a program learns when it begins to
 * listen (RFC 8252, section 7.3).
 */
export function isLoopbackOf(registered: readonly string[], uri: string): boolean {
  const asked = withoutPort(uri);
  return asked !== undefined && registered.some((each) => withoutPort(each) === asked);
}

function withoutPort(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url?.protocol !== 'http:' || !isLoopback(url) || uri.includes('#')) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return `${url.hostname}${url.pathname}${url.search}`;
}
