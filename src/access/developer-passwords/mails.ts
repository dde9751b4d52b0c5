interface Text {
  readonly subject: string;
  readonly text: string;
}

/** The mail with the link to the page where a new password is chosen. */
export function resetMail(web: string, token: string): Text {
  const { host } = new URL(web);
  return {
    subject: `Choose a new password for ${host}`,
    text: `Somebody, probably you, has asked for a new password for the account of this mail address at ${host}.

Choose it on this page, within an hour:

${web}/account/password/${token}

If it was not you, do nothing: the password stays as it is.
`,
  };
}

/** What whoever has asked is told of an address that no account has. */
export function noAccountMail(web: string): Text {
  const { host } = new URL(web);
  return {
    subject: `There is no account of yours at ${host}`,
    text: `Somebody, probably you, has asked for a new password at ${host}. There is no account of this mail address: perhaps it was
opened with another one.

If it was not you, do nothing.
`,
  };
}

/** Tells the owner of an account what has happened to it. */
export function changedMail(web: string): Text {
  const { host } = new URL(web);
  return {
    subject: `Your password for ${host} was changed`,
    text: `The password of the account of this mail address at ${host} was changed, and every session was ended.

If it was not you, ask for a new one at once, and say there that everything that acts for the account shall end:

${web}/account/password
`,
  };
}
