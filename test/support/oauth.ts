import * as client from 'openid-client';
import { expect } from 'vitest';
import type { components } from '../../generated/types.ts';
import type { Api } from './api.ts';
import { unique, type Developer } from './fixtures.ts';

type Schemas = components['schemas'];

/** A browser without scripts: it keeps cookies by path, follows redirects of our pages, and sends forms. */
export class Browser {
  readonly #baseUrl: string;
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>();

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** Opens a URL and follows redirects to our own pages. */
  async open(url: string | URL, init: RequestInit = {}): Promise<Opened> {
    const target = new URL(url, this.#baseUrl);
    if (target.origin !== new URL(this.#baseUrl).origin)
      return { url: target, status: 0, html: '', headers: new Headers() };
    const cookie = [...this.#cookies]
      .filter(([, { path }]) => target.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const response = await fetch(target, {
      ...init,
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        ...(cookie && { cookie }),
        ...(init.headers as Record<string, string>),
      },
    });
    for (const set of response.headers.getSetCookie()) this.#keep(set);
    const html = await response.text();
    const location = response.headers.get('location');
    if (response.status === 303 && location !== null) return this.open(new URL(location, target));
    return { url: target, status: response.status, html, headers: response.headers };
  }

  /** Sends the form of a page. */
  send({ url, html }: Opened, fields: Record<string, string>): Promise<Opened> {
    const action = /<form[^>]* action="([^"]*)"/.exec(html)?.[1];
    const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!] as [string, string],
    );
    const body = new URLSearchParams([...hidden, ...Object.entries(fields)]);
    return this.open(new URL(action ?? url.href, url), { method: 'POST', body });
  }

  #keep(header: string): void {
    const [pair = '', ...attributes] = header.split(/; */);
    const [name = '', value = ''] = pair.split('=');
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
    const over = attributes.some((each) => /^expires=Thu, 01 Jan 1970/i.test(each));
    if (over || value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path });
  }
}

export interface Opened {
  readonly url: URL;
  /** 0 for a URL of another site. */
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

export const REDIRECT_URI = 'https://client.example/callback';

export type NewClient = Partial<Schemas['CreateOAuthClientRequest']>;

/** Registers a client of a developer. */
export async function newClient(api: Api, { token }: Pick<Developer, 'token'>, wanted: NewClient = {}) {
  const body = {
    name: unique('client'),
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'email', 'offline_access', 'read', 'write'],
    ...wanted,
  };
  const response = await api.post<Schemas['CreateOAuthClientResult']>('/api/v2/dev/oauth-clients', body, {
    token,
  });
  if (response.status !== 201) throw new Error(`createOAuthClient returned ${JSON.stringify(response.body)}`);
  return response.body;
}

type Registered = Pick<Schemas['CreateOAuthClientResult'], 'client_id' | 'client_secret'>;

/** `openid-client`, configured by discovery. */
export async function discover(baseUrl: string, { client_id, client_secret }: Registered) {
  const authentication =
    client_secret === undefined ? client.None() : client.ClientSecretBasic(client_secret);
  return client.discovery(new URL(baseUrl), client_id, undefined, authentication, {
    execute: [client.allowInsecureRequests],
  });
}

/** Signs in and consents on the pages that are shown. @returns the final URL of the browser */
export async function consent(browser: Browser, opened: Opened, who: Developer): Promise<Opened> {
  let page = opened;
  if (page.html.includes('name="password"')) {
    page = await browser.send(page, { email: who.email, password: who.password, action: 'sign-in' });
  }
  if (page.html.includes('value="allow"')) page = await browser.send(page, { action: 'allow' });
  return page;
}

/** The URL that starts the code flow, and what is needed to complete it. */
export async function beginAuthorization(
  baseUrl: string,
  registered: Registered,
  parameters: Record<string, string> = {},
) {
  const config = await discover(baseUrl, registered);
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email read',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...parameters,
  });
  const redeem = (end: URL, more: Record<string, string> = {}) =>
    client.authorizationCodeGrant(config, end, { pkceCodeVerifier: verifier, expectedState: state }, more);
  return { config, url, verifier, redeem };
}

/** Runs the code flow from its first redirect to the tokens. */
export async function authorize(
  baseUrl: string,
  who: Developer,
  registered: Registered,
  parameters: Record<string, string> = {},
  browser = new Browser(baseUrl),
) {
  const { config, url, verifier, redeem } = await beginAuthorization(baseUrl, registered, parameters);
  const end = await consent(browser, await browser.open(url), who);
  expect(end.url.href, end.html).toContain(parameters['redirect_uri'] ?? REDIRECT_URI);
  return {
    config,
    url: end.url,
    browser,
    verifier,
    redeem: (more?: Record<string, string>) => redeem(end.url, more),
  };
}
