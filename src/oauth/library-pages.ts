import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { exchanges, type Exchange } from './exchange.ts';
import type { OAuthPage } from './page.ts';

type Features = NonNullable<Configuration['features']>;

/** What people see when they sign out. */
export const logoutPages: NonNullable<Features['rpInitiatedLogout']> = {
  enabled: true,
  async logoutSource(ctx) {
    const { secret, postLogoutRedirectUri } = ctx.oidc.session!.state as {
      readonly secret: string;
      readonly postLogoutRedirectUri?: string;
    };
    const clientName = ctx.oidc.client && nameOf(ctx.oidc.client);
    show(ctx, { kind: 'logout', xsrf: secret, clientName, redirectUri: postLogoutRedirectUri });
  },
  async postLogoutSuccessSource(ctx) {
    show(ctx, { kind: 'logged-out' });
  },
};

/** What people see who connect a device. */
export const devicePages: NonNullable<Features['deviceFlow']> = {
  enabled: true,
  charset: 'base-20',
  mask: '****-****',
  deviceInfo: (ctx) => ({ address: exchanges.getStore()?.address, agent: ctx.get('user-agent') }),
  async userCodeInputSource(ctx, _form, _out, error) {
    const { name, userCode } = (error ?? {}) as { readonly name?: string; readonly userCode?: string };
    if (name === 'AbortedError') return show(ctx, { kind: 'device-over', reason: 'aborted' });
    // Without a session of its own the form that would be shown again could not be sent.
    if (error && ctx.oidc.session?.exp === undefined) {
      return show(ctx, { kind: 'device-over', reason: 'failed' });
    }
    show(ctx, {
      kind: 'device-code',
      xsrf: xsrfOf(ctx),
      userCode: userCode ?? exchanges.getStore()?.userCode ?? '',
      alert: error && deviceAlert(name, userCode),
    });
  },
  async userCodeConfirmSource(ctx, _form, client, deviceInfo, shownCode) {
    show(ctx, {
      kind: 'device-confirm',
      xsrf: xsrfOf(ctx),
      userCode: String(ctx.oidc.params?.['user_code']),
      shownCode,
      clientName: nameOf(client),
      address: (deviceInfo as { readonly address?: string }).address,
    });
  },
  async successSource(ctx) {
    show(ctx, { kind: 'device-done', clientName: nameOf(ctx.oidc.client!) });
  },
};

/** Has a page shown at the end of the exchange. */
export function show(ctx: KoaContextWithOIDC, page: OAuthPage): void {
  const exchange = exchanges.getStore();
  if (exchange) exchange.page = page;
  // Otherwise the status would be 404: the page itself is written at the end.
  ctx.body = '';
}

/** Notes what has failed for no reason that lies with the client. */
export function fail(error: unknown): void {
  const exchange = exchanges.getStore();
  if (exchange) exchange.failure = error;
}

/** Notes how an authorization request has ended. */
export function noteOutcome(outcome: Pick<Exchange, 'hasSucceeded' | 'refusal'>): void {
  const exchange = exchanges.getStore();
  if (exchange) Object.assign(exchange, outcome);
}

function nameOf(client: { readonly clientName?: unknown; readonly clientId: string }): string {
  return String(client.clientName ?? client.clientId);
}

function xsrfOf(ctx: KoaContextWithOIDC): string {
  return String((ctx.oidc.session?.state as { readonly secret?: string } | undefined)?.secret);
}

function deviceAlert(name: string | undefined, userCode: string | undefined): string {
  if (name === 'NoCodeError') return 'Please enter the code.';
  if (name === 'ExpiredError') return 'This code has expired. Ask the device for another one.';
  if (name === 'AlreadyUsedError') return 'This code was used already. Ask the device for another one.';
  return userCode === undefined
    ? 'This did not work. Please enter the code again.'
    : 'There is no such code. Please check it.';
}
