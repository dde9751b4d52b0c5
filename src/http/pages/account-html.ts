import type { Services } from '../../services.ts';
import { escape } from './html.ts';
import { badge, cardOf, dayText, faultOf, formPage } from './payment-parts.ts';

type PasswordReset = NonNullable<Awaited<ReturnType<Services['developerPasswords']['resetOf']>>>;

/** The page on which developers request a new password. */
export const FORGOTTEN_PATH = '/account/password';

export const PASSWORD_FAULT = 'A password has 8 to 128 characters.';

/** The form for the email address. @param fault what is wrong with the submitted address */
export function forgottenPage(email = '', fault?: string): string {
  const { marks, text } = faultOf('email', fault);
  return formPage(
    `${fault === undefined ? '' : 'Error: '}Choose a new password`,
    cardOf(`<h1>Forgot your password?</h1>
      <p class="soft">We email you a link to a page where you choose a new one.</p>
      <form method="post" action="${FORGOTTEN_PATH}" novalidate>
        <div class="field"><label for="email">Email address of your account</label>
          <input id="email" name="email" type="email" autocomplete="username" required maxlength="254"
            value="${escape(email)}" autofocus${marks}>${text}</div>
        <div class="actions"><button class="button" type="submit">Send the email</button></div></form>`),
  );
}

/** The page of a link that was used or has expired. */
export function expiredLinkPage(): string {
  const title = 'This link no longer works';
  return formPage(
    title,
    cardOf(`${badge('wait')}<h1>${title}</h1>
      <p class="soft">Each link works once, for one hour.</p>
      <div class="actions"><a class="button" href="${FORGOTTEN_PATH}">Request another email</a></div>`),
  );
}

/** The form for the new password. @param fault what is wrong with the submitted password */
export function resetPage(token: string, reset: PasswordReset, fault?: string): string {
  const { marks, text } = faultOf('new_password', fault);
  const endAccess = reset.emailVerified ? '' : ' checked';
  const opened = reset.emailVerified
    ? ''
    : ` This email address was never verified: the account was created on
              ${dayText(reset.accountCreatedAt)}. If you did not create it, leave this checked.`;
  return formPage(
    `${fault === undefined ? '' : 'Error: '}Choose a new password`,
    cardOf(`<h1>Choose a new password</h1>
      <p class="soft">for <strong>${escape(reset.email)}</strong></p>
      <form method="post" action="${FORGOTTEN_PATH}/${escape(token)}" novalidate>
        <input type="hidden" autocomplete="username" name="username" value="${escape(reset.email)}">
        <div class="field"><label for="new_password">New password, 8 to 128 characters</label>
          <input id="new_password" name="new_password" type="password" autocomplete="new-password" required
            minlength="8" maxlength="128" autofocus${marks}>${text}</div>
        <label class="choice"><input type="checkbox" name="end_access" value="yes"${endAccess}>
          <span>Also revoke all other access to the account: API tokens, connected programs and
          agents.${opened}</span></label>
        <p class="soft small">All sessions end in any case.</p>
        <div class="actions"><button class="button" type="submit">Set the password</button></div></form>`),
  );
}
