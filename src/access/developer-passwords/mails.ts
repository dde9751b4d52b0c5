interface Text {
  readonly subject: string;
  readonly text: string;
}

/** The mail with the link to the page where a new password is chosen. */
export function resetMail(web: string, token: string): Text {
  const { host } = new URL(web);
  return {
    subject: `Choose a new password for ${host}`,
    text: `Someone, probably you, requested a new password for the account with this email address at ${host}.

Choose it on this page within one hour:

${web}/account/password/${token}

If it was not you, do nothing. Your password does not change.
`,
  };
}

/** The mail to an address without an account. */
export function noAccountMail(web: string): Text {
  const { host } = new URL(web);
  return {
    subject: `You have no account at ${host}`,
    text: `Someone, probably you, requested a new password at ${host}. There is no account with this email address. You
may have used another one.

If it was not you, do nothing.
`,
  };
}

/** The mail to the owner of an account whose password was changed. */
export function changedMail(web: string): Text {
  const { host } = new URL(web);
  return {
    subject: `Your password for ${host} was changed`,
    text: `The password of your account at ${host} was changed, and all sessions were ended.

If it was not you, choose a new one immediately, and revoke all other access to the account on the same page:

${web}/account/password
`,
  };
}
