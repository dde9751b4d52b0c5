import { isLoopback, redirectUriFault } from '../../platform/redirect-uri-state.ts';

/** The metadata of a client (RFC 7591) that the rules here are about. */
export interface RegisteredMetadata {
  readonly client_name?: unknown;
  readonly grant_types?: readonly string[] | undefined;
  readonly redirect_uris?: readonly string[] | undefined;
  readonly post_logout_redirect_uris?: readonly string[] | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

export interface ClientFault {
  readonly member: string;
  /** Completes a sentence about the member, such as `must be a URL`. */
  readonly detail: string;
}

/** The grant types of self-registered clients: none of them works without the consent of a user. */
const SELF_REGISTERED = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
];
const NEEDS_SECRET = ['client_credentials', 'urn:ietf:params:oauth:grant-type:jwt-bearer'];

/**
 * The first fault of a client that the protocol's own schema does not cover.
 * @param before the metadata before an update: its URIs may stay, even if they break a newer rule, because
 *   authorization requests check every URI as well
 */
export function clientFault(
  metadata: RegisteredMetadata,
  before: RegisteredMetadata = {},
): ClientFault | undefined {
  const grantTypes = metadata.grant_types ?? [];
  const redirectUris = metadata.redirect_uris ?? [];
  if (grantTypes.includes('authorization_code') && redirectUris.length === 0) {
    return { member: 'redirect_uris', detail: 'must have a URI for authorization_code' };
  }
  if (grantTypes.includes('refresh_token') && !SELF_REGISTERED.some(isRefreshed(grantTypes))) {
    return { member: 'grant_types', detail: 'must have a type that issues refresh tokens' };
  }
  if (
    metadata.token_endpoint_auth_method === 'none' &&
    NEEDS_SECRET.some((type) => grantTypes.includes(type))
  ) {
    return {
      member: 'token_endpoint_auth_method',
      detail: 'must not be `none` for a client that acts on its own behalf',
    };
  }
  for (const member of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    const added = (metadata[member] ?? []).filter((uri) => !before[member]?.includes(uri));
    const [detail] = added.flatMap((uri) => redirectUriFault(uri) ?? []);
    if (detail !== undefined) return { member, detail };
  }
  return undefined;
}

/** The first fault of a client that registers itself, except for its name. */
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
 * Whether a URI equals a registered loopback URI except for its port, which a program knows only once it listens
 * (RFC 8252, section 7.3).
 */
export function isLoopbackOf(registered: readonly string[], uri: string): boolean {
  const requested = withoutPort(uri);
  return requested !== undefined && registered.some((each) => withoutPort(each) === requested);
}

function withoutPort(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url?.protocol !== 'http:' || !isLoopback(url) || uri.includes('#')) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return `${url.hostname}${url.pathname}${url.search}`;
}
