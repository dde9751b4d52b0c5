import type { Services } from '../../services.ts';
import { escape } from './html.ts';
import { badge, dayText, faultOf, formPage } from './payment-parts.ts';

type PasswordReset = NonNullable<Awaited<ReturnType<Services['developerPasswords']['resetOf']>>>;

/** Where somebody asks for a new password. */
export const FORGOTTEN_PATH = '/account/password';

export const PASSWORD_FAULT = 'A password has 8 to 128 characters.';

/** The form that asks for an address. @param fault what is wrong with the one that was sent */
export function forgottenPage(email = '', fault?: string): string {
  const { marks, text } = faultOf('email', fault);
  return formPage(
    `${fault === undefined ? '' : 'Error: '}Choose a new password`,
    `<main class="narrow"><div class="card">
      <h1>Forgot your password?</h1>
      <p class="soft">We mail you a link to a page where you choose a new one.</p>
      <form method="post" action="${FORGOTTEN_PATH}" novalidate>
        <div class="field"><label for="email">Mail address of your account</label>
          <input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${escape(email)}" autofocus${marks}>${text}</div>
        <div class="actions"><button class="button" type="submit">Send the mail</button></div></form>
    </div></main>`,
  );
}

/** Where a link leads that is used up or has expired. */
export function overPage(): string {
  const title = 'This link does not work any more';
  return formPage(
    title,
    `<main class="narrow"><div class="card">${badge('wait')}<h1>${title}</h1>
      <p class="soft">The link of each mail works once and within an hour.</p>
      <div class="actions"><a class="button" href="${FORGOTTEN_PATH}">Ask for another mail</a></div>
    </div></main>`,
  );
}

/** The form that asks for the new password. @param fault what is wrong with the one that was sent */
export function resetPage(token: string, reset: PasswordReset, fault?: string): string {
  const { marks, text } = faultOf('new_password', fault);
  const opened = reset.emailVerified
    ? ''
    : ` Nobody has proved before that this address is theirs: the account was opened on ${dayText(reset.accountCreatedAt)}. If that was not you, leave this on.`;
  return formPage(
    `${fault === undefined ? '' : 'Error: '}Choose a new password`,
    `<main class="narrow"><div class="card">
      <h1>Choose a new password</h1>
      <p class="soft">for <strong>${escape(reset.email)}</strong></p>
      <form method="post" action="${FORGOTTEN_PATH}/${escape(token)}" novalidate>
        <input type="hidden" autocomplete="username" name="username" value="${escape(reset.email)}">
        <div class="field"><label for="new_password">New password, 8 to 128 characters</label>
          <input id="new_password" name="new_password" type="password" autocomplete="new-password" required minlength="8" maxlength="128" autofocus${marks}>${text}</div>
        <label class="choice"><input type="checkbox" name="end_access" value="yes"${reset.emailVerified ? '' : ' checked'}>
          <span>End whatever acts for the account: API tokens, programs that were let in, and agents.${opened}</span></label>
        <p class="soft small">Every session ends in any case.</p>
        <div class="actions"><button class="button" type="submit">Set the password</button></div></form>
    </div></main>`,
  );
}
