import type { Services } from '../../services.ts';
import { FORGOTTEN_PATH, PASSWORD_FAULT } from './account-html.ts';
import { escape } from './html.ts';
import { dateText, faultOf, formPage, sayPage } from './payment-parts.ts';

type ClaimView = NonNullable<Awaited<ReturnType<Services['agents']['claimPage']['view']>>>;

/** What each scope lets an agent do, as people say it. */
const WORDS: Readonly<Record<ClaimView['scopes'][number], string>> = {
  read: 'see your applications, users, licences and statistics',
  write: 'change them: make licence keys, ban users, edit settings',
  'auth:dev': 'manage your account: tokens, secrets, resellers and webhooks',
  'auth:client': 'check logins as your programs do',
  'agent:register': 'register other agents',
  'agent:execute': 'use the tools for agents',
};

/** Where somebody is asked whether an agent may act for him. */
export function claimPage(address: string, view: ClaimView, denied = false): string {
  const at = escape(address);
  const wrong = view.requiresPassword ? 'The name or the password is wrong.' : PASSWORD_FAULT;
  const { marks, text } = faultOf('password', denied ? wrong : undefined);
  const focus = denied ? ' autofocus' : '';
  const password = view.requiresPassword
    ? `<div class="field"><label for="password">Password of your account</label>
        <input id="password" name="password" type="password" autocomplete="current-password" maxlength="128" required${marks}${focus}>${text}
        <p class="small"><a href="${FORGOTTEN_PATH}">Forgot your password?</a></p></div>`
    : `<div class="field"><label for="new_password">A password, to sign in with later (you may leave it out)</label>
        <input id="new_password" name="new_password" type="password" autocomplete="new-password" maxlength="128"${marks}${focus}>${text}</div>`;
  return formPage(
    `${denied ? 'Error: ' : ''}An agent asks to act for you`,
    `<main class="narrow"><div class="card">
      <h1>May this agent act for you?</h1>
      <dl class="lines">
        <div><dt>It calls itself</dt><dd>${view.agentName === null ? '<span class="soft">nothing</span>' : escape(view.agentName)}</dd></div>
        <div><dt>Vouched for by</dt><dd>${view.issuer === null ? 'nobody' : escape(view.issuer)}</dd></div>
        <div><dt>Your address</dt><dd>${escape(view.email)}</dd></div>
        <div><dt>Open until</dt><dd>${dateText(view.expiresAt)}</dd></div>
      </dl>
      <p>If you agree, it can, for your account:</p>
      <ul class="may">${view.scopes.map((scope) => `<li>${WORDS[scope]}</li>`).join('')}</ul>
      <p class="soft">${
        view.requiresPassword
          ? 'You can revoke it at any time.'
          : 'An account is opened for you if you have none. With a password you can sign in and revoke the agent at any time.'
      }</p>
      <form method="post" action="${at}" novalidate>${password}
        <div class="actions"><button class="button" type="submit">Show the code for my agent</button></div></form>
      <form method="post" action="${at}/reject" class="actions">
        <button class="button plain" type="submit">No, I do not know it</button></form>
    </div></main>`,
  );
}

/** The code, which is shown once. */
export function codePage(otp: string, expiresAt: Date): string {
  return formPage(
    'The code for your agent',
    `<main class="narrow"><div class="card">
      <h1>The code for your agent</h1>
      <p class="code">${escape(otp)}</p>
      <p>Type it to the agent that you work with, until ${dateText(expiresAt)}.</p>
      <p class="soft">Nobody else needs it: whoever asks you for it by mail or on the telephone wants your account.</p>
    </div></main>`,
  );
}

const STATES = {
  claimed: { kind: 'good', title: 'This agent acts for you', line: 'You need not do anything more.' },
  rejected: { kind: 'good', title: 'You have refused this agent', line: 'It does not act for you.' },
  expired: { kind: 'wait', title: 'This page has expired', line: 'Ask your agent to begin again.' },
} as const;

/** What a claim has come to. */
export function claimStatePage(state: keyof typeof STATES): string {
  const { kind, title, line } = STATES[state];
  return sayPage(kind, title, line);
}
