import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { requestContext, type RequestContext } from './request-context.ts';
import type { OAuthPage } from './oauth-page.ts';

type Features = NonNullable<Configuration['features']>;

/** The pages for signing out. */
export const logoutPages: NonNullable<Features['rpInitiatedLogout']> = {
  enabled: true,
  async logoutSource(ctx) {
    const { secret, postLogoutRedirectUri } = ctx.oidc.session!.state as {
      readonly secret: string;
      readonly postLogoutRedirectUri?: string;
    };
    const clientName = ctx.oidc.client && nameOf(ctx.oidc.client);
    setPage(ctx, { kind: 'logout', xsrf: secret, clientName, redirectUri: postLogoutRedirectUri });
  },
  async postLogoutSuccessSource(ctx) {
    setPage(ctx, { kind: 'logged-out' });
  },
};

/** The pages for connecting a device. */
export const devicePages: NonNullable<Features['deviceFlow']> = {
  enabled: true,
  charset: 'base-20',
  mask: '****-****',
  deviceInfo: (ctx) => ({ address: requestContext.getStore()?.address, agent: ctx.get('user-agent') }),
  async userCodeInputSource(ctx, _form, _out, error) {
    const { name, userCode } = (error ?? {}) as { readonly name?: string; readonly userCode?: string };
    if (name === 'AbortedError') return setPage(ctx, { kind: 'device-ended', reason: 'aborted' });
    // Without a session the form cannot be submitted, so it is not shown again.
    if (error && ctx.oidc.session?.exp === undefined) {
      return setPage(ctx, { kind: 'device-ended', reason: 'failed' });
    }
    setPage(ctx, {
      kind: 'device-code',
      xsrf: xsrfOf(ctx),
      userCode: userCode ?? requestContext.getStore()?.userCode ?? '',
      alert: error && deviceAlert(name, userCode),
    });
  },
  async userCodeConfirmSource(ctx, _form, client, deviceInfo, shownCode) {
    setPage(ctx, {
      kind: 'device-confirm',
      xsrf: xsrfOf(ctx),
      userCode: String(ctx.oidc.params?.['user_code']),
      shownCode,
      clientName: nameOf(client),
      address: (deviceInfo as { readonly address?: string }).address,
    });
  },
  async successSource(ctx) {
    setPage(ctx, { kind: 'device-done', clientName: nameOf(ctx.oidc.client!) });
  },
};

/** Shows a page as the response of this request. */
export function setPage(ctx: KoaContextWithOIDC, page: OAuthPage): void {
  const context = requestContext.getStore();
  if (context) context.page = page;
  // Without a body the status would be 404; the page replaces it at the end of the request.
  ctx.body = '';
}

/** Records a failure that the client has not caused. */
export function setFailure(error: unknown): void {
  const context = requestContext.getStore();
  if (context) context.failure = error;
}

/** Records the outcome of an authorization request. */
export function setOutcome(outcome: Pick<RequestContext, 'hasSucceeded' | 'refusal'>): void {
  const context = requestContext.getStore();
  if (context) Object.assign(context, outcome);
}

function nameOf(client: { readonly clientName?: unknown; readonly clientId: string }): string {
  return String(client.clientName ?? client.clientId);
}

function xsrfOf(ctx: KoaContextWithOIDC): string {
  return String((ctx.oidc.session?.state as { readonly secret?: string } | undefined)?.secret);
}

function deviceAlert(name: string | undefined, userCode: string | undefined): string {
  if (name === 'NoCodeError') return 'Please enter the code.';
  if (name === 'ExpiredError') return 'This code has expired. Request a new one on the device.';
  if (name === 'AlreadyUsedError') return 'This code was already used. Request a new one on the device.';
  return userCode === undefined
    ? 'Something went wrong. Please enter the code again.'
    : 'The code is not correct. Please check it.';
}
