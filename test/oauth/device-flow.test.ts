import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { reinstate, suspend } from '../operations/support/developer-accounts.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { Browser, consent, discover, newClient } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

let service: TestService;
let developer: Developer;
beforeAll(async () => {
  service = await startTestService();
  developer = await newDeveloper(service.api);
});

const newDevice = () =>
  newClient(service.api, developer, {
    redirect_uris: [],
    grant_types: [DEVICE_CODE, 'refresh_token'],
    token_endpoint_auth_method: 'none',
    scopes: ['openid', 'read'],
  });

async function begin(device?: Awaited<ReturnType<typeof newDevice>>) {
  const registered = device ?? (await newDevice());
  const config = await discover(service.baseUrl, registered);
  const started = await client.initiateDeviceAuthorization(config, { scope: 'openid read' });
  const poll = () =>
    client
      .genericGrantRequest(config, DEVICE_CODE, { device_code: started.device_code })
      .catch((error: { error?: string }) => error.error);
  return { config, started, poll };
}

describe('the device flow', () => {
  test('a device gets tokens once its code was entered and confirmed', async () => {
    const { config, started, poll } = await begin();
    expect(started.user_code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    expect(await poll()).toBe('authorization_pending');

    const browser = new Browser(service.baseUrl);
    const entry = await browser.open(started.verification_uri);
    const wrong = await browser.send(entry, { user_code: 'BBBB-BBBB' });
    expect(wrong.html).toContain('The code is not correct');
    const confirm = await browser.send(wrong, { user_code: started.user_code.toLowerCase() });
    expect(confirm.html).toContain(started.user_code);
    const done = await consent(browser, await browser.send(confirm, { confirm: 'yes' }), developer);
    expect(done.html).toContain('Your device is connected');

    const tokens = (await poll()) as client.TokenEndpointResponse;
    expect(tokens).toMatchObject({ scope: 'openid read', refresh_token: expect.any(String) });
    const { status } = await service.api.call('GET', '/api/v2/dev/me', undefined, {
      token: tokens.access_token,
    });
    expect(status).toBe(200);
    expect((await client.refreshTokenGrant(config, tokens.refresh_token!)).access_token).toBeDefined();
    expect(await poll()).toBe('invalid_grant');
  });

  test('a device gets nothing while its developer is suspended, and starts again afterwards', async () => {
    const person = await newDeveloper(service.api);
    const { started, poll } = await begin();
    const browser = new Browser(service.baseUrl);
    const entry = await browser.open(started.verification_uri);
    const confirm = await browser.send(entry, { user_code: started.user_code });
    await consent(browser, await browser.send(confirm, { confirm: 'yes' }), person);
    await suspend(service.api, person.developerId);
    expect(await poll()).toBe('invalid_grant');
    await reinstate(service.api, person.developerId);
    expect(await poll()).toBe('invalid_grant');
  });

  test('the URL with the code fills in the form, but does not submit it', async () => {
    const { started } = await begin();
    const browser = new Browser(service.baseUrl);
    const entry = await browser.open(started.verification_uri_complete!);
    expect(entry.html).toContain(`value="${started.user_code}"`);
    expect(entry.html).not.toContain('<script');
    expect((await browser.send(entry, { user_code: started.user_code })).html).toContain(
      'Is this your device?',
    );
  });

  test('a device needs consent each time, even if its client was allowed before', async () => {
    const device = await newDevice();
    const browser = new Browser(service.baseUrl);
    for (let round = 0; round < 2; round += 1) {
      const { user_code, verification_uri } = (await begin(device)).started;
      const entry = await browser.open(verification_uri);
      const confirm = await browser.send(entry, { user_code });
      let page = await browser.send(confirm, { confirm: 'yes' });
      if (round === 0) page = await browser.send(page, { ...developer, action: 'sign-in' });
      expect(page.html).toContain('value="allow"');
      expect((await browser.send(page, { action: 'allow' })).html).toContain('Your device is connected');
    }
  });

  test('a refusal is reported to the device', async () => {
    for (const refuse of ['abort', 'deny']) {
      const { started, poll } = await begin();
      const browser = new Browser(service.baseUrl);
      const entry = await browser.open(started.verification_uri);
      const confirm = await browser.send(entry, { user_code: started.user_code });
      if (refuse === 'abort') {
        expect((await browser.send(confirm, { abort: 'yes' })).html).toContain('Access was not allowed');
      } else {
        const signIn = await browser.send(confirm, { confirm: 'yes' });
        expect((await browser.send(signIn, { action: 'deny' })).html).toContain('Access was not allowed');
      }
      expect(await poll()).toBe('access_denied');
    }
  });

  test('a code expires after ten minutes', async () => {
    const { started, poll } = await begin();
    service.clock.advance(10 * 60_000);
    expect(await poll()).toBe('expired_token');
    const browser = new Browser(service.baseUrl);
    const entry = await browser.open(started.verification_uri);
    expect((await browser.send(entry, { user_code: started.user_code })).html).toContain('expired');
  });

  test('codes cannot be guessed: after ten failures in a minute, all are refused', async () => {
    const guarded = await startTestService();
    const browser = new Browser(guarded.baseUrl);
    let page = await browser.open(`${guarded.baseUrl}/oauth/device`);
    for (let guess = 0; guess < 10; guess += 1)
      page = await browser.send(page, { user_code: `BBBB-BBB${'BCDFGHJKLM'[guess]}` });
    expect(page.status).toBe(200);
    const refused = await browser.send(page, { user_code: 'BBBB-BBBN' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
