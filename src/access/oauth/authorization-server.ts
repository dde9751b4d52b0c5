import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { readJwt } from '../../platform/jwt-text.ts';
import type { ClientFault } from './client-state.ts';
import { requestContext, type RequestContext } from './request-context.ts';
import { allowFormPost, authorizationResponseOf, mayRedirect, errorPage } from './authorization-response.ts';
import { createInteractions, type Interactions } from './interactions.ts';
import type { OAuthPage } from './oauth-page.ts';
import { ROUTES, type OidcProviderModule, type ProviderDependencies } from './provider-dependencies.ts';
import { createProvider } from './provider.ts';
import { createUserinfo } from './userinfo.ts';

/** What the authorization server needs from the HTTP server. */
export interface ServerBinding {
  /** The client's address. */
  readonly address: string;
  render(page: OAuthPage): { readonly html: string; readonly headers: Readonly<Record<string, string>> };
  /** Logs a failure and returns the response to it. */
  fault(error: unknown): {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly error: string;
    readonly description: string;
  };
}

/** The OAuth 2.1 and OpenID Connect provider of this installation. */
export interface AuthorizationServer extends Interactions {
  /** Handles a request to one of its paths. */
  handle(request: IncomingMessage, response: ServerResponse, binding: ServerBinding): Promise<void>;
  /** The server metadata (RFC 8414, OpenID Connect Discovery). */
  metadata(): Promise<Readonly<Record<string, unknown>> & { readonly issuer: string }>;
  /**
   * The claims about the developer that an access token gives access to (OpenID Connect Core, section 5.3).
   * @throws ApiError UNAUTHORIZED, INSUFFICIENT_SCOPE
   */
  userinfo(token: string): Promise<Record<string, unknown>>;
  /** The first fault in the metadata of a client by the rules of the protocol. */
  clientFault(metadata: Readonly<Record<string, unknown>>): Promise<ClientFault | undefined>;
}

/** Where browsers return to after an interaction. */
const RESUME_PATH = /^\/oauth\/(authorize|device)\/[^/]+$/;
/** The routes that store something for any caller, with their methods. */
const RATE_LIMITED_METHODS: Readonly<Record<string, string>> = {
  [ROUTES.registration]: 'POST',
  [ROUTES.device_authorization]: 'POST',
  [ROUTES.code_verification]: 'GET',
};
/** Routes that respond in JSON regardless of the `Accept` header. */
const JSON_ROUTES: readonly string[] = [
  ROUTES.token,
  ROUTES.revocation,
  ROUTES.introspection,
  ROUTES.registration,
  ROUTES.device_authorization,
  ROUTES.jwks,
];

export function createAuthorizationServer(deps: ProviderDependencies): AuthorizationServer {
  const { addresses, limits, signingKeys } = deps;
  const issuer = () => addresses.issuer();
  let providerModule: Promise<OidcProviderModule> | undefined;
  let validator: Provider | undefined;
  let instance:
    { readonly keys: string; readonly provider: Provider; readonly handle: RequestHandler } | undefined;

  const load = () =>
    (providerModule ??= import('oidc-provider').then(({ default: Provider, errors, interactionPolicy }) => ({
      Provider,
      errors,
      interactionPolicy,
    })));

  /** oidc-provider reads its keys once: when they change, a new instance replaces it. */
  async function current(): Promise<NonNullable<typeof instance>> {
    const loaded = await load();
    await signingKeys.ensure('RS256');
    const keys = signingKeys
      .published()
      .map(({ keyId, state }) => `${keyId} ${state}`)
      .join('\n');
    if (instance?.keys !== keys) {
      const provider = createProvider(deps, loaded);
      provider.use(finish as never);
      instance = { keys, provider, handle: provider.callback() as RequestHandler };
    }
    return instance;
  }

  /** Completes every response of oidc-provider: errors, pages, introspection and metadata. */
  async function finish(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    const context = requestContext.getStore() as ServerRequestContext;
    try {
      await next();
    } catch (error) {
      context.failure ??= error;
    }
    const { failure, binding } = context;
    ctx.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' });
    if (failure !== undefined) {
      const isPage = context.page !== undefined || !JSON_ROUTES.includes(ctx.path);
      return respondWithError(ctx, failure, binding, isPage);
    }
    const authorizationResponse = context.page ? undefined : authorizationResponseOf(ctx, issuer());
    if (authorizationResponse && !context.hasSucceeded && !(await mayRedirect(ctx, deps))) {
      ctx.remove('Location');
      respondWithPage(ctx, errorPage(ctx, authorizationResponse, context.refusal, issuer()), binding);
      ctx.status = 400;
      return;
    }
    if (authorizationResponse?.mode === 'form') return allowFormPost(ctx);
    if (ctx.oidc?.route === 'end_session' && !context.page && ctx.status === 200) showLoggedOut(ctx, context);
    if (context.page) return respondWithPage(ctx, context.page, binding);
    if (ctx.oidc?.route === 'introspection' && context.bearer) completeIntrospection(ctx, context);
    if (ctx.oidc?.route === 'discovery') {
      context.document = { ...(ctx.body as object), ...EXTRA_METADATA };
      ctx.body = context.document;
    }
  }

  function respondWithError(
    ctx: KoaContextWithOIDC,
    failure: unknown,
    binding: ServerBinding,
    isPage: boolean,
  ): void {
    const { status, headers, error, description } = binding.fault(failure);
    if (isPage) respondWithPage(ctx, { kind: 'error', error, description }, binding);
    else ctx.body = { error, error_description: description };
    ctx.status = status;
    ctx.set(headers as Record<string, string>);
  }

  /** Replaces the body by what the stored token says, regardless of its kind. */
  function completeIntrospection(ctx: KoaContextWithOIDC, { bearer, presented }: RequestContext): void {
    const body = ctx.body as { readonly active: boolean };
    if (!body.active || !bearer) return;
    const { clientId, developerId, id, grantedScopes, audience, issuedAt, expiresAt } = bearer;
    const { sub, jti } = claimsOf(presented?.token);
    ctx.body = {
      active: true,
      iss: issuer(),
      client_id: clientId,
      sub: sub ?? developerId ?? id,
      ...(jti !== undefined && { jti }),
      scope: grantedScopes.join(' '),
      aud: audience ?? issuer(),
      iat: Math.floor(issuedAt.getTime() / 1000),
      ...(expiresAt && { exp: Math.floor(expiresAt.getTime() / 1000) }),
      token_type: 'Bearer',
    };
  }

  /** Without a session, the script of oidc-provider would submit a form without effect. The page has a link. */
  function showLoggedOut(ctx: KoaContextWithOIDC, context: RequestContext): void {
    const { post_logout_redirect_uri: uri, state } = ctx.oidc.params as Record<string, string | undefined>;
    const target = uri === undefined ? undefined : new URL(uri);
    if (target && state !== undefined) target.searchParams.set('state', state);
    context.page = { kind: 'logged-out', ...(target && { back: { redirectUri: target.href } }) };
  }

  async function run(
    request: IncomingMessage,
    response: ServerResponse,
    binding: ServerBinding,
    more: Partial<RequestContext> = {},
  ): Promise<ServerRequestContext> {
    const context: ServerRequestContext = { ...more, address: binding.address, binding };
    const { handle } = await current();
    await requestContext.run(context, () => handle(request, response));
    return context;
  }

  /** Any caller may have something stored for a while, but only so often. */
  async function assertWithinLimit(method: string | undefined, path: string, address: string): Promise<void> {
    if (RATE_LIMITED_METHODS[path] === method) await limits.assertRequestAllowed(['oauth', path], address);
  }

  return {
    ...createInteractions(deps, async () => (await current()).provider),

    async handle(request, response, binding) {
      rewriteToIssuer(request, issuer(), binding.address);
      const url = new URL(request.url!, issuer());
      if (JSON_ROUTES.includes(url.pathname)) request.headers.accept = 'application/json';
      const isDevice = url.pathname === ROUTES.code_verification;
      const userCode = (isDevice && url.searchParams.get('user_code')) || undefined;
      // oidc-provider would submit a code by a script: here the form is filled in instead. On the way back from an
      // interaction there must be no query, because oidc-provider would take it for a request.
      if (userCode !== undefined || RESUME_PATH.test(url.pathname)) request.url = url.pathname;
      try {
        await assertWithinLimit(request.method, url.pathname, binding.address);
        await run(request, response, binding, { userCode });
      } catch (failure) {
        if (response.headersSent) throw failure;
        const { status, headers, error, description } = binding.fault(failure);
        const page = JSON_ROUTES.includes(url.pathname)
          ? undefined
          : binding.render({ kind: 'error', error, description });
        response.writeHead(status, {
          'Content-Type': page ? 'text/html; charset=utf-8' : 'application/json',
          ...page?.headers,
          ...headers,
        });
        response.end(page?.html ?? JSON.stringify({ error, error_description: description }));
      }
    },

    async metadata() {
      const request = new IncomingMessage(new Socket());
      Object.assign(request, { method: 'GET', url: '/.well-known/openid-configuration' });
      rewriteToIssuer(request, issuer(), '127.0.0.1');
      const { document } = await run(request, new ServerResponse(request), { ...NO_BINDING });
      return { ...document, issuer: issuer() };
    },

    userinfo: createUserinfo(deps),

    async clientFault(metadata) {
      // A separate instance: setting up the one that serves creates a key, which a failed request would roll back.
      validator ??= createProvider(deps, await load(), 'ES256');
      try {
        await validator.Client.validate({ client_id: 'new', client_secret: 'new', ...metadata } as never);
        return undefined;
      } catch (error) {
        const { error_description: description } = error as { readonly error_description?: string };
        if (description === undefined) throw error;
        const [member, ...detail] = description.split(' ') as [string, ...string[]];
        return { member, detail: detail.join(' ') };
      }
    },
  };
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
type ServerRequestContext = RequestContext & {
  readonly binding: ServerBinding;
  document?: Record<string, unknown>;
};

const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'];
const EXTRA_METADATA = {
  introspection_endpoint_auth_methods_supported: AUTH_METHODS,
  revocation_endpoint_auth_methods_supported: AUTH_METHODS,
  prompt_values_supported: ['none', 'login', 'consent'],
};

/** For requests of the service to itself, whose response is discarded. */
const NO_BINDING: ServerBinding = {
  address: '127.0.0.1',
  render: () => ({ html: '', headers: {} }),
  fault(error) {
    throw error;
  },
};

/**
 * Makes oidc-provider see a request to the issuer from the client's address, regardless of the headers that the client
 * has sent.
 */
function rewriteToIssuer(request: IncomingMessage, issuer: string, address: string): void {
  const { protocol, host } = new URL(issuer);
  Object.assign(request.headers, {
    host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-host': host,
    'x-forwarded-for': address,
  });
}

function respondWithPage(ctx: KoaContextWithOIDC, page: OAuthPage, binding: ServerBinding): void {
  const { html, headers } = binding.render(page);
  const { status } = ctx;
  ctx.type = 'html';
  ctx.body = html;
  ctx.status = status;
  ctx.set(headers as Record<string, string>);
}

/** The claims of a JWT whose row has been found. */
function claimsOf(token: string | undefined): { readonly sub?: string; readonly jti?: string } {
  return (token === undefined ? undefined : readJwt(token)?.payload) ?? {};
}
