import { AsyncLocalStorage } from 'node:async_hooks';
import type { Bearer } from '../bearer-tokens/bearer-tokens.ts';
import type { OAuthPage } from './page.ts';

/** The error of an authorization response (RFC 6749, section 4.1.2.1). */
export interface Refusal {
  readonly error: string;
  readonly description: string | undefined;
}

/** What is known of the request that the authorization server is at. */
export interface Exchange {
  /** Of the client, as our server has determined it. */
  readonly address: string;
  /** What the page of a device's code is filled in with. */
  readonly userCode?: string | undefined;
  /** How often all that the developer had signed in to was ended, before he signed in here. */
  generation?: number;
  /** What is to be shown. */
  page?: OAuthPage;
  /** Whether an authorization response says that the client is authorized. */
  hasSucceeded?: boolean;
  /** The error of an authorization response. */
  refusal?: Refusal;
  /** What has failed for no reason that lies with the client. */
  failure?: unknown;
  /** A token that the library would refuse to look up because it is a JWT, and what stands for it in the meantime. */
  presented?: { readonly handle: string; readonly token: string };
  /** Whom the token stands for that was looked up. */
  bearer?: Bearer & { readonly grantedScopes: readonly string[] };
}

export const exchanges = new AsyncLocalStorage<Exchange>();
