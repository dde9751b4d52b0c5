/**
 * The mail that requests a user's consent to an agent. It does not contain the name that the agent gives
 * itself: that could be any text, and would seem to come from this service.
 */
export function claimMail(
  web: string,
  viewToken: string,
  issuer: string | null,
): { subject: string; text: string } {
  const sender = issuer === null ? 'An agent' : `An agent of ${new URL(issuer).host}`;
  return {
    subject: 'An agent requests to act for you',
    text: `${sender} has given this email address and requests to act for you at ${new URL(web).host}.

If you expect this, open the page below. It says what the agent wants to do, and shows you a code for it.

${web}/agent/claim/${viewToken}

If you do not know of any agent, do nothing, or reject it on that page. Nothing happens without the code: give it
only to the agent that you work with yourself. The link is valid for 24 hours.
`,
  };
}
