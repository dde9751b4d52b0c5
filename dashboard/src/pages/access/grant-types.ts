import type { Schemas } from '../../api/client.ts';
import type { Choice } from '../../components/choices.tsx';

export type GrantType = Schemas['OAuthGrantType'];

interface Explained extends Choice<GrantType> {
  /** For a table. */
  readonly short: string;
}

/** How a client gets its tokens. */
export const GRANT_TYPES: readonly Explained[] = [
  {
    value: 'authorization_code',
    short: 'Consent page',
    label: 'Consent page (authorization_code)',
    hint: 'Sends the user to this service, and gets a code at a redirect URI. Always with PKCE.',
  },
  {
    value: 'urn:ietf:params:oauth:grant-type:device_code',
    short: 'Device code',
    label: 'Device code (device_code)',
    hint: 'For programs without a browser: the user enters a short code on another device.',
  },
  {
    value: 'client_credentials',
    short: 'Client credentials',
    label: 'Its own credentials (client_credentials)',
    hint: 'For servers of yours: acts for your account, without a user.',
  },
  {
    value: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    short: 'Identity assertion',
    label: 'Identity assertion (jwt-bearer)',
    hint: 'Exchanges an assertion of an issuer that the operator trusts.',
  },
  {
    value: 'refresh_token',
    short: 'Refresh token',
    label: 'Refresh tokens (refresh_token)',
    hint: 'Renews access without the user. Only together with a consent page or a device code.',
  },
];
