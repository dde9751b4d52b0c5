/**
 * The mail that asks somebody whether an agent may act for him. What the agent calls itself is not in it: that could be any
 * text, and it would come from us.
 */
export function claimMail(
  web: string,
  viewToken: string,
  issuer: string | null,
): { subject: string; text: string } {
  const who = issuer === null ? 'An agent' : `An agent of ${new URL(issuer).host}`;
  return {
    subject: 'An agent asks to act for you',
    text: `${who} has given this mail address and asks to act for you at ${new URL(web).host}.

If you expect this, open the page below. It says what the agent wants to do, and shows you a code for it.

${web}/agent/claim/${viewToken}

If you do not know of any agent, do nothing, or refuse it on that page. Nothing happens without the code: give it to nobody
but the agent that you work with yourself. The page is there for 24 hours.
`,
  };
}
