import { hash } from 'node:crypto';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Refusal } from './request-context.ts';
import type { ProviderDependencies } from './provider-dependencies.ts';
import type { OAuthPage } from './oauth-page.ts';

/** An authorization response that sends the browser to a client. */
export interface AuthorizationResponse {
  /** Contains the response in the mode `redirect`. */
  readonly redirectUri: string;
  /** In the mode `form`, a script submits a form (OAuth 2.0 Form Post Response Mode). */
  readonly mode: 'redirect' | 'form';
}

/** The authorization response that oidc-provider has written; undefined if its response stays on this service. */
export function authorizationResponseOf(
  ctx: KoaContextWithOIDC,
  issuer: string,
): AuthorizationResponse | undefined {
  const route = ctx.oidc?.route;
  if (route !== 'authorization' && route !== 'resume') return undefined;
  const location = ctx.response.get('location');
  if (location) {
    const { href } = new URL(location, issuer);
    return href.startsWith(`${issuer}/oauth/`) ? undefined : { redirectUri: href, mode: 'redirect' };
  }
  const { response_mode: mode, redirect_uri: redirectUri } = (ctx.oidc.params ?? {}) as Record<
    string,
    unknown
  >;
  const isForm = mode === 'form_post' && typeof ctx.body === 'string' && ctx.body.includes('<script>');
  return isForm ? { redirectUri: String(redirectUri), mode: 'form' } : undefined;
}

/**
 * Whether an error may redirect the browser to a client without a click. Anyone can register a client, so an immediate
 * redirect would make this service an open redirector (RFC 9700, section 4.11.2). It is allowed for clients that the
 * operator trusts, and for those that the signed-in developer owns, has authorized, or has just refused on the consent
 * page, which names the target.
 */
export async function mayRedirect(
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

/** Whether the response follows a click on the consent page. */
function isDecided({ oidc }: KoaContextWithOIDC): boolean {
  const interaction = oidc.entities.Interaction as
    | { readonly prompt: { readonly name: string }; readonly result?: { readonly error?: unknown } }
    | undefined;
  return interaction?.prompt.name === 'consent' && interaction.result?.error !== undefined;
}

/** The page that shows the error and a link back to the client. */
export function errorPage(
  { oidc }: KoaContextWithOIDC,
  { redirectUri, mode: by }: AuthorizationResponse,
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

/** Allows the one script that submits the form of an authorization response. */
export function allowFormPost(ctx: KoaContextWithOIDC): void {
  const [, rest = ''] = (ctx.body as string).split('<script>', 2);
  const [script] = rest.split('</script>', 1);
  const scriptSource = `script-src 'sha256-${hash('sha256', script!, 'base64')}'`;
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; ${scriptSource}; base-uri 'none'; frame-ancestors 'none'`,
  });
}
