import { AsyncLocalStorage } from 'node:async_hooks';
import type { Bearer } from '../bearer-tokens/bearer-tokens.ts';
import type { OAuthPage } from './oauth-page.ts';

/** The error of an authorization response (RFC 6749, section 4.1.2.1). */
export interface Refusal {
  readonly error: string;
  readonly description: string | undefined;
}

/** What the authorization server knows about the request in progress. */
export interface RequestContext {
  /** The client's address as the HTTP server has determined it. */
  readonly address: string;
  /** Fills in the form for the code of a device. */
  readonly userCode?: string | undefined;
  /** The generation of the developer's sign-ins: it increases when all of them are ended. */
  generation?: number;
  /** The page to respond with. */
  page?: OAuthPage;
  /** Whether the authorization response is a success. */
  hasSucceeded?: boolean;
  /** The error of the authorization response. */
  refusal?: Refusal;
  /** A failure that the client has not caused. */
  failure?: unknown;
  /** A JWT in the request, and the handle that replaces it because oidc-provider does not look up JWTs. */
  presented?: { readonly handle: string; readonly token: string };
  /** The bearer of the token that was looked up. */
  bearer?: Bearer & { readonly grantedScopes: readonly string[] };
}

export const requestContext = new AsyncLocalStorage<RequestContext>();
