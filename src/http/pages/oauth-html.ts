import type { Services } from '../../services.ts';
import { FORGOTTEN_PATH } from './account-html.ts';
import { placeOf, policySource } from '../../platform/redirect-uri-state.ts';
import { escape } from './html.ts';
import { PAGE_STYLE_SOURCE } from './page-style.ts';
import { badge, cardOf, formPage } from './payment-parts.ts';

/** A page that the authorization server shows. */
export type OAuthPage = NonNullable<Awaited<ReturnType<Services['authorizationServer']['interaction']>>>;
type ShownClient = Extract<OAuthPage, { kind: 'consent' }>['client'];
type ReturnLink = Extract<OAuthPage, { kind: 'refused' }>['back'];

/** What each scope lets a client do. */
const SCOPES: Readonly<Record<string, string>> = {
  openid: 'Know which account is yours',
  profile: 'See your name',
  email: 'See your email address',
  offline_access: 'Keep access while you are offline',
  read: 'See your applications, users, licenses and statistics',
  write: 'Change your applications, users and licenses, and create license keys',
  'auth:dev': 'Manage your account: its tokens, secrets, resellers, webhooks and audit log',
  'agent:register': 'Register agents',
  'agent:execute': 'Use the tools for agents',
};
/** Scopes that are shown with a warning. */
const GRAVE = ['write', 'auth:dev'];

/** A page of the authorization server. */
export function oauthPage(page: OAuthPage): string {
  switch (page.kind) {
    case 'sign-in':
      return signInPage(page);
    case 'consent':
      return consentPage(page);
    case 'device-code':
      return deviceCodePage(page);
    case 'device-confirm':
      return deviceConfirmPage(page);
    case 'device-done':
      return messagePage('good', 'Your device is connected', [
        `${page.clientName} can continue. You can close this page.`,
      ]);
    case 'device-ended':
      return page.reason === 'aborted'
        ? messagePage('bad', 'Access was not allowed', [
            'The device is not connected. You can close this page.',
          ])
        : messagePage('bad', 'Something went wrong', ['Please start again on the device.']);
    case 'logout':
      return logoutPage(page);
    case 'logged-out':
      return messagePage('good', 'You are signed out', ['You can close this page.'], {
        more: page.back && returnLink(page.back),
      });
    case 'refused':
      return messagePage(
        'bad',
        'Something went wrong',
        [page.description ?? 'The request was not understood.'],
        {
          code: page.error,
          more: returnLink(page.back),
        },
      );
    case 'error':
      return messagePage(
        'bad',
        'Something went wrong',
        [
          page.description ?? 'The request was not understood.',
          'Please go back to where you came from and try again.',
        ],
        { code: page.error },
      );
  }
}

/** Where a form of a page may lead, besides this service: browsers apply the policy to redirects after a form too. */
function formTargets(page: OAuthPage): string[] {
  const target =
    'redirectUri' in page ? page.redirectUri : 'back' in page ? page.back?.redirectUri : undefined;
  const source = target === undefined ? undefined : policySource(target);
  return source === undefined ? [] : [source];
}

/** Strict headers for pages with forms: no scripts, no external resources, no framing, no caching. */
export function oauthPageHeaders(page: OAuthPage): Record<string, string> {
  const targets = ["'self'", ...formTargets(page)].join(' ');
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      `default-src 'none'; style-src ${PAGE_STYLE_SOURCE}; base-uri 'none'; ` +
      `form-action ${targets}; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
  };
}

function signInPage({ client, redirectUri, email, alert }: Extract<OAuthPage, { kind: 'sign-in' }>): string {
  return page(
    'Sign in',
    `<h1>Sign in</h1>
    <p class="soft">to continue to <strong>${escape(client.name)}</strong>${destination(redirectUri)}</p>
    ${alert === undefined ? '' : `<p class="alert" role="alert">${escape(alert)}</p>`}
    <form method="post">
      <div class="field"><label for="email">Email address</label>
        <input id="email" name="email" type="email" autocomplete="username" required maxlength="254"
          value="${escape(email)}"${email === '' ? ' autofocus' : ''}></div>
      <div class="field"><label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required
          maxlength="128"${email === '' ? '' : ' autofocus'}></div>
      <div class="choices">
        <button class="button" name="action" value="sign-in">Sign in</button>
        <button class="button plain" name="action" value="deny" formnovalidate>Cancel</button>
      </div>
    </form>
    <p class="forgotten"><a href="${FORGOTTEN_PATH}">Forgot your password?</a></p>`,
  );
}

function consentPage(consent: Extract<OAuthPage, { kind: 'consent' }>): string {
  const { client, redirectUri, scopes, email } = consent;
  const place = placeOf(redirectUri ?? '');
  const items = scopes.map(
    (scope) => `<li${GRAVE.includes(scope) ? ' class="grave"' : ''}>${SCOPES[scope]}</li>`,
  );
  return page(
    `Allow ${client.name}?`,
    `<h1>Allow ${escape(client.name)} to act for you?</h1>
    <p class="soft">You are signed in as <strong>${escape(email)}</strong>.</p>
    ${factsOf(client, redirectUri)}
    <h2 class="part">It will be able to</h2>
    <ul class="scopes">${items.join('')}</ul>
    <p class="note">${place === undefined ? '' : `Either choice takes you to <strong>${escape(place)}</strong>. `}
    Allow this only if you started it yourself. You can revoke it at any time.</p>
    <form method="post" class="choices">
      <button class="button" name="action" value="allow">Allow</button>
      <button class="button plain" name="action" value="deny">Do not allow</button>
    </form>`,
  );
}

function deviceCodePage({ xsrf, userCode, alert }: Extract<OAuthPage, { kind: 'device-code' }>): string {
  return page(
    'Connect a device',
    `<h1>Connect a device</h1>
    <p class="soft">Enter the code that the device shows.</p>
    ${alert === undefined ? '' : `<p class="alert" role="alert">${escape(alert)}</p>`}
    <form method="post" action="/oauth/device">
      <input type="hidden" name="xsrf" value="${escape(xsrf)}">
      <div class="field"><label for="user_code">Code</label>
        <input class="code-field" id="user_code" name="user_code" autocomplete="off" autocapitalize="characters"
          spellcheck="false" required maxlength="20" placeholder="XXXX-XXXX" value="${escape(userCode)}"
          autofocus></div>
      <div class="choices"><button class="button">Continue</button></div>
    </form>`,
  );
}

function deviceConfirmPage(confirm: Extract<OAuthPage, { kind: 'device-confirm' }>): string {
  const { xsrf, userCode, shownCode, clientName, address } = confirm;
  const from = address === undefined ? '' : ` from the address ${escape(address)}`;
  return page(
    'Confirm the device',
    `<h1>Is this your device?</h1>
    <p class="soft"><strong>${escape(clientName)}</strong> wants to connect${from}. The device must show this code:</p>
    <strong class="code">${escape(shownCode)}</strong>
    <p class="note">If someone sent you this code, they can act for you once you confirm it. Continue only if the
    device is in front of you.</p>
    <form method="post" action="/oauth/device" class="choices">
      <input type="hidden" name="xsrf" value="${escape(xsrf)}">
      <input type="hidden" name="user_code" value="${escape(userCode)}">
      <button class="button" name="confirm" value="yes">Yes, continue</button>
      <button class="button plain" name="abort" value="yes">No</button>
    </form>`,
  );
}

function logoutPage({ xsrf, clientName, redirectUri }: Extract<OAuthPage, { kind: 'logout' }>): string {
  const place = placeOf(redirectUri ?? '');
  return page(
    'Sign out',
    `<h1>Sign out?</h1>
    <p class="soft">${clientName === undefined ? '' : `<strong>${escape(clientName)}</strong> requests it. `}
    Programs that you have allowed to act for you keep their access.</p>
    ${place === undefined ? '' : `<p class="note">Either choice takes you to <strong>${escape(place)}</strong>.</p>`}
    <form method="post" action="/oauth/logout/confirm" class="choices">
      <input type="hidden" name="xsrf" value="${escape(xsrf)}">
      <button class="button" name="logout" value="yes">Sign out</button>
      <button class="button plain">Stay signed in</button>
    </form>`,
  );
}

/** Facts about a program for the user's decision, none of which the program chooses. */
function factsOf({ owner, isTrusted }: ShownClient, redirectUri: string | undefined): string {
  const place = placeOf(redirectUri ?? '') ?? 'the device that shows your code';
  const registered =
    owner.kind === 'itself'
      ? 'itself, without an account'
      : owner.kind === 'host'
        ? `a document at ${owner.host}`
        : owner.isCurrentUser
          ? 'your own account'
          : `the account ${owner.developerId}`;
  const warning = isTrusted
    ? ''
    : `<p class="alert">The operator of this service has not verified this program. Anyone can register a program,
    and choose any name for it.</p>`;
  const checked = isTrusted ? '<div><dt>Checked by</dt><dd>the operator of this service</dd></div>' : '';
  return `${warning}
    <dl class="lines facts">
      <div><dt>Leads to</dt><dd><strong>${escape(place)}</strong></dd></div>
      <div><dt>Registered by</dt><dd>${escape(registered)}</dd></div>${checked}
    </dl>`;
}

/** The link back to a client, with its destination: users go there only by a click. */
function returnLink({ redirectUri, fields }: ReturnLink): string {
  const place = placeOf(redirectUri);
  if (place === undefined || policySource(redirectUri) === undefined) return '';
  const note = `<p class="note">A program sent you here. The link leads back to <strong>${escape(place)}</strong>, which
    the operator of this service has not verified. Continue only if you know it.</p>`;
  const label = `Continue to ${escape(place)}`;
  if (!fields)
    return `${note}<p class="choices"><a class="button plain" href="${escape(redirectUri)}">${label}</a></p>`;
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`,
  );
  return `${note}<form method="post" action="${escape(redirectUri)}" class="choices">${inputs.join('')}
    <button class="button plain">${label}</button></form>`;
}

function destination(redirectUri: string | undefined): string {
  const place = placeOf(redirectUri ?? '');
  return place === undefined ? '' : ` (${escape(place)})`;
}

/** A page with one message. @param more HTML that follows it */
function messagePage(
  kind: 'good' | 'bad',
  title: string,
  lines: readonly string[],
  { code, more = '' }: { readonly code?: string; readonly more?: string | undefined } = {},
): string {
  const text = lines.map((line) => `<p class="soft">${escape(line)}</p>`).join('');
  const shown = code === undefined ? '' : `<p class="soft small"><code>${escape(code)}</code></p>`;
  return page(title, `${badge(kind)}<h1>${escape(title)}</h1>${text}${shown}${more}`);
}

/** @param body HTML */
function page(title: string, body: string): string {
  return formPage(`${title} · Latchkey`, cardOf(body));
}
