import { expect, vi } from 'vitest';
import type { Api } from '../../support/api.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { startTestService } from '../../support/service.ts';
import type { MailedService } from './agents.ts';

/** Requests a password reset. */
export const requestReset = (api: Api, email: string) => api.post('/api/v2/dev/password-resets', { email });

/** Sends a new password with the token of a mail. */
export const completeReset = (
  api: Api,
  body: { readonly token: string; readonly password: string; readonly end_access?: boolean },
) => api.post('/api/v2/dev/password-resets/complete', body);

export const changePassword = (api: Api, token: string | undefined, password: string, new_password: string) =>
  api.call('PUT', '/api/v2/dev/password', { password, new_password }, { token });

export const loginStatus = async (api: Api, email: string, password: string) =>
  (await api.post('/api/v2/dev/login', { email, password })).status;

export const meStatus = async (api: Api, token: string) =>
  (await api.call('GET', '/api/v2/dev/me', undefined, { token })).status;

/** The tokens of all mails to an address. Mails of the same time have no order. */
export async function tokensFor(
  { mailbox }: Pick<MailedService, 'mailbox'>,
  email: string,
): Promise<string[]> {
  const mails = (await mailbox()).filter(({ to }) => to?.[0]?.address === email);
  return mails.flatMap(({ text }) => /\/account\/password\/([\w-]{43})\n/.exec(text ?? '')?.[1] ?? []);
}

/** Requests a password reset and reads the mail. */
export async function newResetToken(service: MailedService, email: string): Promise<string> {
  const before = await tokensFor(service, email);
  const { status } = await requestReset(service.api, email);
  expect(status).toBe(202);
  return vi.waitFor(
    async () => {
      const fresh = (await tokensFor(service, email)).find((token) => !before.includes(token));
      if (fresh === undefined) throw new Error(`${email} has no mail`);
      return fresh;
    },
    { timeout: 60_000 },
  );
}

/** Two services on one database that share a mail folder. */
export async function startTwoServices() {
  const DATA_DIR = await temporaryFolder(atFileEnd);
  const service = await startTestService({ DATA_DIR });
  const second = await startTestService({ DATA_DIR, DATABASE_URL: service.databaseUrl });
  return { service, second };
}
