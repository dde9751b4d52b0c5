import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { readJwt } from '../platform/jwt-text.ts';
import type { ClientFault } from './client-state.ts';
import { exchanges, type Exchange } from './exchange.ts';
import { allowFormPost, departureOf, mayReturn, refusedPage } from './departure.ts';
import { createInteractions, type Interactions } from './interactions.ts';
import type { OAuthPage } from './page.ts';
import { ROUTES, type Library, type ProviderDependencies } from './library.ts';
import { createProvider } from './provider.ts';
import { createUserinfo } from './userinfo.ts';

/** What the authorization server needs of the server that it is part of. */
export interface Surface {
  /** Of the client. */
  readonly address: string;
  render(page: OAuthPage): { readonly html: string; readonly headers: Readonly<Record<string, string>> };
  /** Logs a failure, and says how to answer it. */
  fault(error: unknown): {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly error: string;
    readonly description: string;
  };
}

/** The OAuth 2.1 and OpenID Connect provider of this installation. */
export interface AuthorizationServer extends Interactions {
  /** Answers a request to one of its addresses. */
  handle(request: IncomingMessage, response: ServerResponse, surface: Surface): Promise<void>;
  /** Its metadata (RFC 8414, OpenID Connect Discovery). */
  metadata(): Promise<Readonly<Record<string, unknown>> & { readonly issuer: string }>;
  /**
   * What an access token of the API may know of the developer it acts for (OpenID Connect Core, section 5.3).
   * @throws ApiError UNAUTHORIZED, INSUFFICIENT_SCOPE
   */
  userinfo(token: string): Promise<Record<string, unknown>>;
  /** What the protocol's schema finds wrong with the metadata of a client. */
  clientFault(metadata: Readonly<Record<string, unknown>>): Promise<ClientFault | undefined>;
}

/** Where browsers come back to after they were asked. */
const RETURNS = /^\/oauth\/(authorize|device)\/[^/]+$/;
/** What is remembered for whoever asks, and by which method it is. */
const COUNTED: Readonly<Record<string, string>> = {
  [ROUTES.registration]: 'POST',
  [ROUTES.device_authorization]: 'POST',
  [ROUTES.code_verification]: 'GET',
};
/** What answers in JSON whatever the client accepts. */
const FOR_PROGRAMS: readonly string[] = [
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
  let library: Promise<Library> | undefined;
  let judge: Provider | undefined;
  let built: { readonly of: string; readonly provider: Provider; readonly answer: Answer } | undefined;

  const load = () =>
    (library ??= import('oidc-provider').then(({ default: Provider, errors, interactionPolicy }) => ({
      Provider,
      errors,
      interactionPolicy,
    })));

  /** The library reads its keys once: with other ones it is set up anew. */
  async function current(): Promise<NonNullable<typeof built>> {
    const loaded = await load();
    await signingKeys.ensure('RS256');
    const of = signingKeys
      .published()
      .map(({ keyId, state }) => `${keyId} ${state}`)
      .join('\n');
    if (built?.of !== of) {
      const provider = createProvider(deps, loaded);
      provider.use(finish as never);
      built = { of, provider, answer: provider.callback() as Answer };
    }
    return built;
  }

  /** Closes every answer of the library: what it could not do, what it shows, and what it leaves to be completed. */
  async function finish(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    const exchange = exchanges.getStore() as Running;
    try {
      await next();
    } catch (error) {
      exchange.failure ??= error;
    }
    const { failure, surface } = exchange;
    ctx.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' });
    if (failure !== undefined) {
      const isPage = exchange.page !== undefined || !FOR_PROGRAMS.includes(ctx.path);
      return answerFailure(ctx, failure, surface, isPage);
    }
    const departure = exchange.page ? undefined : departureOf(ctx, issuer());
    if (departure && !exchange.hasSucceeded && !(await mayReturn(ctx, deps))) {
      ctx.remove('Location');
      answerPage(ctx, refusedPage(ctx, departure, exchange.refusal, issuer()), surface);
      ctx.status = 400;
      return;
    }
    if (departure?.by === 'form') return allowFormPost(ctx);
    if (ctx.oidc?.route === 'end_session' && !exchange.page && ctx.status === 200)
      endWithoutSession(ctx, exchange);
    if (exchange.page) return answerPage(ctx, exchange.page, surface);
    if (ctx.oidc?.route === 'introspection' && exchange.bearer) completeIntrospection(ctx, exchange);
    if (ctx.oidc?.route === 'discovery') {
      exchange.document = { ...(ctx.body as object), ...MORE_METADATA };
      ctx.body = exchange.document;
    }
  }

  function answerFailure(ctx: KoaContextWithOIDC, failure: unknown, surface: Surface, isPage: boolean): void {
    const { status, headers, error, description } = surface.fault(failure);
    if (isPage) answerPage(ctx, { kind: 'error', error, description }, surface);
    else ctx.body = { error, error_description: description };
    ctx.status = status;
    ctx.set(headers as Record<string, string>);
  }

  /** Of whatever kind the token is: the row says it all. */
  function completeIntrospection(ctx: KoaContextWithOIDC, { bearer, presented }: Exchange): void {
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

  /** Nobody is signed in, so the library's script would send a form that does nothing; where it leads, only a click goes. */
  function endWithoutSession(ctx: KoaContextWithOIDC, exchange: Exchange): void {
    const { post_logout_redirect_uri: uri, state } = ctx.oidc.params as Record<string, string | undefined>;
    const target = uri === undefined ? undefined : new URL(uri);
    if (target && state !== undefined) target.searchParams.set('state', state);
    exchange.page = { kind: 'logged-out', ...(target && { back: { redirectUri: target.href } }) };
  }

  async function run(
    request: IncomingMessage,
    response: ServerResponse,
    surface: Surface,
    more: Partial<Exchange> = {},
  ): Promise<Running> {
    const exchange: Running = { ...more, address: surface.address, surface };
    const { answer } = await current();
    await exchanges.run(exchange, () => answer(request, response));
    return exchange;
  }

  /** Everybody may have these remembered for a while, but not as many as he likes. */
  async function countUnknown(method: string | undefined, path: string, address: string): Promise<void> {
    if (COUNTED[path] === method) await limits.assertMayAsk(['oauth', path], address);
  }

  return {
    ...createInteractions(deps, async () => (await current()).provider),

    async handle(request, response, surface) {
      pretendIssuer(request, issuer(), surface.address);
      const url = new URL(request.url!, issuer());
      if (FOR_PROGRAMS.includes(url.pathname)) request.headers.accept = 'application/json';
      const isDevice = url.pathname === ROUTES.code_verification;
      const userCode = (isDevice && url.searchParams.get('user_code')) || undefined;
      // A code the library would send on by a script: here it is filled in, and sent with the form. Where somebody comes back to
      // there is nothing to say, and what is said all the same the library takes for a request.
      if (userCode !== undefined || RETURNS.test(url.pathname)) request.url = url.pathname;
      try {
        await countUnknown(request.method, url.pathname, surface.address);
        await run(request, response, surface, { userCode });
      } catch (failure) {
        if (response.headersSent) throw failure;
        const { status, headers, error, description } = surface.fault(failure);
        const page = FOR_PROGRAMS.includes(url.pathname)
          ? undefined
          : surface.render({ kind: 'error', error, description });
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
      pretendIssuer(request, issuer(), '127.0.0.1');
      const { document } = await run(request, new ServerResponse(request), { ...UNSEEN });
      return { ...document, issuer: issuer() };
    },

    userinfo: createUserinfo(deps),

    async clientFault(metadata) {
      // Not the one that serves: it makes a key, which a request that is refused would take back.
      judge ??= createProvider(deps, await load(), 'ES256');
      try {
        await judge.Client.validate({ client_id: 'new', client_secret: 'new', ...metadata } as never);
        return undefined;
      } catch (error) {
        const { error_description: words } = error as { readonly error_description?: string };
        if (words === undefined) throw error;
        const [member, ...detail] = words.split(' ') as [string, ...string[]];
        return { member, detail: detail.join(' ') };
      }
    },
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
type Running = Exchange & { readonly surface: Surface; document?: Record<string, unknown> };

const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'];
const MORE_METADATA = {
  introspection_endpoint_auth_methods_supported: AUTH_METHODS,
  revocation_endpoint_auth_methods_supported: AUTH_METHODS,
  prompt_values_supported: ['none', 'login', 'consent'],
};

/** Nobody looks at what is answered to ourselves. */
const UNSEEN: Surface = {
  address: '127.0.0.1',
  render: () => ({ html: '', headers: {} }),
  fault(error) {
    throw error;
  },
};

/**
 * Lets the library see the request as the client has sent it: to the issuer, from its own address. What the client says of
 * that itself does not count.
 */
function pretendIssuer(request: IncomingMessage, issuer: string, address: string): void {
  const { protocol, host } = new URL(issuer);
  Object.assign(request.headers, {
    host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-host': host,
    'x-forwarded-for': address,
  });
}

function answerPage(ctx: KoaContextWithOIDC, page: OAuthPage, surface: Surface): void {
  const { html, headers } = surface.render(page);
  const { status } = ctx;
  ctx.type = 'html';
  ctx.body = html;
  ctx.status = status;
  ctx.set(headers as Record<string, string>);
}

/** What a JWT says of itself; its row was found already. */
function claimsOf(token: string | undefined): { readonly sub?: string; readonly jti?: string } {
  return (token === undefined ? undefined : readJwt(token)?.payload) ?? {};
}
