import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startService } from '../../src/app/service.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Api } from '../support/api.ts';
import { createTestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/processes.ts';
import { testConfig } from '../support/service.ts';
import { claimMailTo } from './support/person.ts';
import { openShell, shellBlocks } from './support/shell.ts';

// The guides use the time of the machine, so the service must use the same clock.
const dataDir = await temporaryFolder(afterAll);
const { baseUrl, stop } = await startService(
  testConfig({ DATABASE_URL: await createTestDatabase(), DATA_DIR: dataDir }),
  createLogger('warn'),
);
afterAll(stop);
const api = new Api(baseUrl);

const readDocument = async (path: string) => (await fetch(baseUrl + path)).text();

type JsonBody = Record<string, unknown>;

/**
 * Follows a document: runs its code blocks one after another, with two values replaced as instructed. The person does
 * their part when the code is requested.
 * @returns the output of each block, as text if it is not JSON
 */
async function follow(markdown: string, email: string): Promise<(JsonBody | string)[]> {
  const shell = openShell(await temporaryFolder());
  const responses: (JsonBody | string)[] = [];
  for (const block of shellBlocks(markdown)) {
    let literal = block.replace(/^EMAIL=.*$/m, `EMAIL=${email}`);
    if (/^OTP=/m.test(literal)) {
      const otp = await (await claimMailTo(join(dataDir, 'mail'), email)).confirm();
      literal = literal.replace(/^OTP=.*$/m, `OTP=${otp}`);
    }
    const printed = await shell.run(literal);
    responses.push(printed.startsWith('{') ? (JSON.parse(printed) as JsonBody) : printed);
  }
  return responses;
}

describe('SKILL.md', () => {
  test('leads a reader to a working desktop program', async () => {
    const responses = await follow(
      await readDocument('/.well-known/agent-skills/auth/SKILL.md'),
      'grace@example.com',
    );
    const [sandbox, verified, registered, held, initiated, claimed, me, app, licenses, tools, ...program] =
      responses as JsonBody[];
    expect(sandbox).toMatchObject({ status: 'success', sandbox: true });
    expect(verified).toMatchObject({ status: 'success', valid: true });
    expect(registered).toMatchObject({ registration_type: 'anonymous', credential_type: 'ephemeral_key' });
    expect(held).toMatchObject({ scope: 'auth:client agent:execute', claimed: false });
    expect(initiated).toMatchObject({ status: 'initiated' });
    expect(claimed).toMatchObject({ status: 'claimed', scopes: registered!['post_claim_scopes'] });
    expect(me).toMatchObject({ email: 'grace@example.com' });
    expect(app).toMatchObject({ name: 'My program' });
    expect(licenses!['licenses']).toHaveLength(1);
    expect(tools).toMatchObject({ jsonrpc: '2.0', result: { tools: expect.any(Array) } });

    const [user, login, checked, valid, logout, mistake, revoked] = program;
    expect(user).toMatchObject({ status: 'success', user_id: expect.any(String) });
    expect(login).toMatchObject({ status: 'success', token: expect.any(String) });
    expect(checked).toBe('true');
    expect(valid).toMatchObject({ valid: true, username: 'ada', signature: expect.any(String) });
    expect(logout).toMatchObject({ status: 'success' });
    expect(mistake).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ pointer: '/token' }] });
    expect(revoked).toMatchObject({ status: 'success' });
    expect(responses).toHaveLength(17);
    const credential = String(registered!['credential']);
    expect((await api.call('GET', '/api/v2/dev/me', undefined, { token: credential })).status).toBe(401);
  }, 60_000);
});

describe('auth.md', () => {
  test('leads a reader to a credential and its revocation', async () => {
    const responses = (await follow(await readDocument('/auth.md'), 'linus@example.com')) as JsonBody[];
    const [registered, claimed, me, anonymous, held, revoked] = responses;
    expect(registered).toMatchObject({ registration_type: 'email-verification' });
    expect(registered).not.toHaveProperty('credential');
    expect(claimed).toMatchObject({ status: 'claimed', credential_type: 'bearer_token' });
    expect(me).toMatchObject({ email: 'linus@example.com' });
    expect(anonymous).toMatchObject({ credential_type: 'ephemeral_key' });
    expect(held).toMatchObject({ claimed: false });
    expect(revoked).toMatchObject({ status: 'success' });
    expect(responses).toHaveLength(6);
    const credential = String(claimed!['credential']);
    expect((await api.call('GET', '/api/v2/dev/me', undefined, { token: credential })).status).toBe(401);
  }, 60_000);
});
