import { hash } from 'node:crypto';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Refusal } from './exchange.ts';
import type { ProviderDependencies } from './library.ts';
import type { OAuthPage } from './page.ts';

/** An authorization response that takes the browser to a client. */
export interface Departure {
  /** With the response in it where a redirect takes it there. */
  readonly redirectUri: string;
  /** A form is sent by a script (OAuth 2.0 Form Post Response Mode). */
  readonly by: 'redirect' | 'form';
}

/** The departure that the library has written as its answer; undefined when the answer stays with this service. */
export function departureOf(ctx: KoaContextWithOIDC, issuer: string): Departure | undefined {
  const route = ctx.oidc?.route;
  if (route !== 'authorization' && route !== 'resume') return undefined;
  const location = ctx.response.get('location');
  if (location) {
    const { href } = new URL(location, issuer);
    return href.startsWith(`${issuer}/oauth/`) ? undefined : { redirectUri: href, by: 'redirect' };
  }
  const { response_mode: mode, redirect_uri: redirectUri } = (ctx.oidc.params ?? {}) as Record<
    string,
    unknown
  >;
  const isForm = mode === 'form_post' && typeof ctx.body === 'string' && ctx.body.includes('<script>');
  return isForm ? { redirectUri: String(redirectUri), by: 'form' } : undefined;
}

/**
 * Whether an error may take the browser to a client without a click. Anybody can register a client, so that an error which
 * leads there at once would make this service an open redirector (RFC 9700, section 4.11.2). It may for clients that the
 * operator vouches for, and for those that the signed-in developer owns, has authorized, or has just refused on the consent
 * page, which says where the response goes.
 */
export async function mayReturn(
  ctx: KoaContextWithOIDC,
  { registeredClients, trustedClients }: Pick<ProviderDependencies, 'registeredClients' | 'trustedClients'>,
): Promise<boolean> {
  const { client, session, provider } = ctx.oidc;
  if (!client) return false;
  if (trustedClients.includes(client.clientId)) return true;
  const accountId = session?.accountId;
  if (session === undefined || accountId === undefined) return false;
  if (isDecided(ctx)) return true;
  if ((await registeredClients.owned(client.clientId))?.developerId === accountId) return true;
  const grantId = session.grantIdFor(client.clientId);
  const grant = grantId === undefined ? undefined : await (provider as Provider).Grant.find(grantId);
  return grant?.accountId === accountId && grant.clientId === client.clientId;
}

/** Whether the response is one to a click on the consent page. */
function isDecided({ oidc }: KoaContextWithOIDC): boolean {
  const interaction = oidc.entities.Interaction as
    | { readonly prompt: { readonly name: string }; readonly result?: { readonly error?: unknown } }
    | undefined;
  return interaction?.prompt.name === 'consent' && interaction.result?.error !== undefined;
}

/** The page that says what went wrong and where the way back leads. */
export function refusedPage(
  { oidc }: KoaContextWithOIDC,
  { redirectUri, by }: Departure,
  { error, description }: Refusal = { error: 'server_error', description: undefined },
  issuer: string,
): OAuthPage {
  if (by === 'redirect') return { kind: 'refused', error, description, back: { redirectUri } };
  const { state } = oidc.params as { readonly state?: string };
  const fields = {
    error,
    ...(description !== undefined && { error_description: description }),
    ...(state !== undefined && { state }),
    iss: issuer,
  };
  return { kind: 'refused', error, description, back: { redirectUri, fields } };
}

/** Lets the one script run that sends the form of a departure. */
export function allowFormPost(ctx: KoaContextWithOIDC): void {
  const [, opened = ''] = (ctx.body as string).split('<script>', 2);
  const [script] = opened.split('</script>', 1);
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; script-src 'sha256-${hash('sha256', script!, 'base64')}'; base-uri 'none'; frame-ancestors 'none'`,
  });
}
