import { vi } from 'vitest';
import { readMails } from '../../support/service.ts';

/** A person who received a mail about an agent. */
export interface Person {
  /** Opens the link, confirms, and reads the code. */
  confirm(): Promise<string>;
}

/**
 * Waits for the mail about an agent's claim.
 * @param mailbox the folder that mails are written to
 */
export async function claimMailTo(mailbox: string, email: string): Promise<Person> {
  const mail = await vi.waitUntil(
    async () => (await readMails(mailbox)).findLast(({ to }) => to?.some(({ address }) => address === email)),
    { timeout: 60_000 },
  );
  const [link] = /https?:\/\/\S+\/agent\/claim\/[\w-]+/.exec(mail!.text!)!;
  return {
    async confirm() {
      const html = await (await fetch(link)).text();
      const form = formsOf(html)[0]!;
      const response = await fetch(new URL(form.action, link), {
        method: 'POST',
        body: new URLSearchParams(form.fields),
        headers: { 'sec-fetch-site': 'same-origin' },
      });
      return /\b\d{6}\b/.exec((await response.text()).replaceAll(/<style.*?<\/style>|<[^>]+>/gs, ' '))![0];
    },
  };
}

interface Form {
  readonly action: string;
  readonly fields: Record<string, string>;
}

function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, head, body]) => ({
    action: attributeOf(head!, 'action') ?? '',
    fields: Object.fromEntries(
      [...body!.matchAll(/<(?:input|button)\b([^>]*)>/g)].flatMap(([, tag]) => {
        const name = attributeOf(tag!, 'name');
        return name === undefined ? [] : [[name, attributeOf(tag!, 'value') ?? '']];
      }),
    ),
  }));
}

function attributeOf(tag: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
}
