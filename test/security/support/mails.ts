import { buffer } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { expect, onTestFinished, vi } from 'vitest';
import { smtpError, startMailServer } from '../../conformance/support/mail-server.ts';
import { connectTo } from '../../support/database.ts';
import { spawnService, type ServiceProcess } from '../../support/processes.ts';

/**
 * Sends a password reset through a mail server that refuses it after reading it, so that the mail is kept for the
 * operator. No other node may run, because each of them sends mail.
 * @param keep stores the token in the link
 */
export async function sendRefusedMail(
  environment: Record<string, string> & { readonly DATABASE_URL: string },
  email: string,
  keep: (name: string, value: string) => string,
): Promise<ServiceProcess> {
  let refused: Buffer | undefined;
  const server = await startMailServer(onTestFinished, {
    onData(stream, _session, done) {
      void buffer(stream).then((content) => {
        refused = content;
        done(smtpError(550, 'Refused'));
      }, done);
    },
  });
  const node = await spawnService({
    ...environment,
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'a@example.com',
  });
  await node.api.post('/api/v2/dev/password-resets', { email });
  const database = await connectTo(environment.DATABASE_URL);
  await vi.waitFor(
    async () =>
      expect(
        (await database.query('select from failed_mails where message_sealed is not null')).rowCount,
      ).toBe(1),
    { timeout: 60_000 },
  );
  const { text } = await PostalMime.parse(refused!);
  keep('token of a refused mail', /\/account\/password\/([\w-]+)/.exec(text!)![1]!);
  return node;
}
