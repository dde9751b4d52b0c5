import type { Services } from '../../services.ts';
import { FORGOTTEN_PATH, PASSWORD_FAULT } from './account-html.ts';
import { escape } from './html.ts';
import { cardOf, dateText, faultOf, formPage, messagePage } from './payment-parts.ts';

type ClaimView = NonNullable<Awaited<ReturnType<Services['agents']['claimPage']['view']>>>;

/** What each scope lets an agent do, for people. */
const WORDS: Readonly<Record<ClaimView['scopes'][number], string>> = {
  read: 'see your applications, users, licenses and statistics',
  write: 'change them: create license keys, ban users, edit settings',
  'auth:dev': 'manage your account: tokens, secrets, resellers and webhooks',
  'auth:client': 'check logins as your programs do',
  'agent:register': 'register other agents',
  'agent:execute': 'use the tools for agents',
};

/** The page that shows an agent's request to act for a user. */
export function claimPage(address: string, view: ClaimView, denied = false): string {
  const at = escape(address);
  const wrong = view.requiresPassword ? 'The name or the password is wrong.' : PASSWORD_FAULT;
  const { marks, text } = faultOf('password', denied ? wrong : undefined);
  const focus = denied ? ' autofocus' : '';
  const name = view.agentName === null ? '<span class="soft">none</span>' : escape(view.agentName);
  const password = view.requiresPassword
    ? `<div class="field"><label for="password">Password of your account</label>
        <input id="password" name="password" type="password" autocomplete="current-password" maxlength="128"
        required${marks}${focus}>${text}
        <p class="small"><a href="${FORGOTTEN_PATH}">Forgot your password?</a></p></div>`
    : `<div class="field"><label for="new_password">Password for signing in later (optional)</label>
        <input id="new_password" name="new_password" type="password" autocomplete="new-password" maxlength="128"${marks}
                ${focus}>${text}</div>`;
  return formPage(
    `${denied ? 'Error: ' : ''}An agent wants to act for you`,
    cardOf(`<h1>May this agent act for you?</h1>
      <dl class="lines">
        <div><dt>Name that the agent gave</dt><dd>${name}</dd></div>
        <div><dt>Issuer</dt><dd>${view.issuer === null ? 'none' : escape(view.issuer)}</dd></div>
        <div><dt>Your address</dt><dd>${escape(view.email)}</dd></div>
        <div><dt>Open until</dt><dd>${dateText(view.expiresAt)}</dd></div>
      </dl>
      <p>If you allow it, it can do this in your account:</p>
      <ul class="may">${view.scopes.map((scope) => `<li>${WORDS[scope]}</li>`).join('')}</ul>
      <p class="soft">${
        view.requiresPassword
          ? 'You can revoke it at any time.'
          : 'If you have no account, one is created. With a password you can sign in and revoke the agent at any time.'
      }</p>
      <form method="post" action="${at}" novalidate>${password}
        <div class="actions"><button class="button" type="submit">Show the code for my agent</button></div></form>
      <form method="post" action="${at}/reject" class="actions">
        <button class="button plain" type="submit">No, I do not recognize it</button></form>`),
  );
}

/** The page with the code, which is shown once. */
export function codePage(otp: string, expiresAt: Date): string {
  return formPage(
    'The code for your agent',
    cardOf(`<h1>The code for your agent</h1>
      <p class="code">${escape(otp)}</p>
      <p>Give it to your agent before ${dateText(expiresAt)}.</p>
      <p class="soft">Do not give it to anyone else: if someone requests it by email or phone, they want access to
      your account.</p>`),
  );
}

const STATES = {
  claimed: { kind: 'good', title: 'This agent acts for you', line: 'You can close this page.' },
  rejected: { kind: 'good', title: 'You have refused this agent', line: 'It does not act for you.' },
  expired: { kind: 'wait', title: 'This page has expired', line: 'Have your agent start again.' },
} as const;

/** The page of a claim that is decided or has expired. */
export function claimStatePage(state: keyof typeof STATES): string {
  const { kind, title, line } = STATES[state];
  return messagePage(kind, title, line);
}
