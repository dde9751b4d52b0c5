import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newApp, newHwid, newUser } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { startTestService } from '../../support/service.ts';
import {
  everywhere,
  guestsOf,
  callEntryPoint,
  callEveryEntryPoint,
  newGuest,
} from '../support/entry-points.ts';
import { comparable, expectError } from '../support/errors.ts';

// The switches that refuse users, which all operations for client programs share.

const folder = await temporaryFolder(afterAll);
const list = join(folder, 'networks.txt');
await writeFile(list, '# Networks of a provider\n127.0.0.0/8\n203.0.113.0/24\n2001:db8::/32\n');
const service = await startTestService({ VPN_NETWORKS: list, TRUSTED_PROXIES: '127.0.0.1' });
const { api, databaseUrl } = service;

/** An application whose switches are off when a test starts, and its users. */
const app = await newApp(api);
const guests = await guestsOf(service, app);
beforeEach(() =>
  app.patch({
    status: 'active',
    paused: false,
    pause_sessions: false,
    block_vpn: false,
    vpn_fail_closed: false,
    require_signatures: false,
  }),
);

const from = (address: string) => ({ 'x-forwarded-for': address });

describe('block_vpn', () => {
  test('refuses addresses of the list at every entry point', async () => {
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(everywhere('ok'));
    await app.patch({ block_vpn: true });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(everywhere('403 VPN_BLOCKED'));
    expect(await callEveryEntryPoint(service, app, guests, from('198.51.100.1'))).toEqual(everywhere('ok'));
    await app.patch({ block_vpn: false });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(everywhere('ok'));
  });

  test('does not keep users from ending a session', async () => {
    const own = await newApp(api);
    const { encryptedToken } = await newGuest(service, own);
    await own.patch({ block_vpn: true });
    expect((await api.logout({ app_id: own.app_id, token: encryptedToken })).status).toBe(200);
  });

  test.each([
    ['203.0.113.255', true],
    ['203.0.114.0', false],
    ['::ffff:203.0.113.1', true],
    ['2001:db8:ffff::1', true],
    ['2001:db9::', false],
  ])('looks up the address %s as it is: %s', async (address, blocked) => {
    await app.patch({ block_vpn: true });
    for (const entryPoint of ['initApplication', 'verifySession', 'loginUser'] as const) {
      const { status, body } = await callEntryPoint(
        entryPoint,
        service,
        app,
        guests[entryPoint],
        from(address),
      );
      expect([status, body.code]).toEqual(blocked ? [403, 'VPN_BLOCKED'] : [200, undefined]);
    }
  });

  test('reveals nothing about accounts: the response is the same for any name and password', async () => {
    const own = await newApp(api);
    const user = await newUser(api, own);
    await own.patch({ block_vpn: true });
    const responses = [
      await api.login(own.with(user)),
      await api.login(own.with({ ...user, password: 'wrong' })),
      await api.login(own.with({ ...user, username: 'unknown', hwid: newHwid() })),
    ];
    for (const response of responses) {
      expectError(response, 403, 'VPN_BLOCKED');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
  });

  test('creates and spends nothing', async () => {
    const own = await newApp(api);
    const guest = await newGuest(service, own);
    const [license_key] = (await own.keys(1)) as [string];
    await own.patch({ block_vpn: true });
    const attempts = [
      await api.register(own.with({ username: 'ada', password: 'a password', hwid: newHwid(), license_key })),
      await api.activate(own.with({ username: guest.username, license_key })),
      await api.loginWithLicense({ app_id: own.app_id, license_key, hwid: newHwid() }),
    ];
    for (const attempt of attempts) expectError(attempt, 403, 'VPN_BLOCKED');
    await own.patch({ block_vpn: false });
    expect((await api.activate(own.with({ username: guest.username, license_key }))).status).toBe(200);
    const { body } = await api.call('GET', `/api/v2/dev/apps/${own.app_id}`, undefined, own);
    expect(body['users']).toBe(1);
  });

  test('follows the file when it changes, and keeps the last good list', async () => {
    const file = join(await temporaryFolder(), 'networks.txt');
    const replace = async (text: string) => {
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    };
    await replace('203.0.113.0/24\n');
    const node = await startTestService({ DATABASE_URL: databaseUrl, VPN_NETWORKS: file });
    await app.patch({ block_vpn: true });
    expect((await callEntryPoint('loginUser', node, app, guests.loginUser)).status).toBe(200);
    await replace('127.0.0.1\n');
    await node.services.vpn.refresh();
    expectError(await callEntryPoint('loginUser', node, app, guests.loginUser), 403, 'VPN_BLOCKED');
    await replace('nonsense\n');
    await node.services.vpn.refresh();
    expectError(await callEntryPoint('loginUser', node, app, guests.loginUser), 403, 'VPN_BLOCKED');
    await replace('203.0.113.0/24\n');
    await node.services.vpn.refresh();
    expect((await callEntryPoint('loginUser', node, app, guests.loginUser)).status).toBe(200);
  });

  describe.each([
    ['no list', {}],
    ['a list that is not there', { VPN_NETWORKS: join(folder, 'missing.txt') }],
  ] as [string, Record<string, string>][])('with %s', (_what, settings) => {
    test('admits everyone, or no one under vpn_fail_closed', async () => {
      const node = await startTestService({ DATABASE_URL: databaseUrl, ...settings });
      await app.patch({ block_vpn: true });
      expect(await callEveryEntryPoint(node, app, guests)).toEqual(everywhere('ok'));
      await app.patch({ vpn_fail_closed: true });
      expect(await callEveryEntryPoint(node, app, guests)).toEqual(everywhere('403 VPN_BLOCKED'));
      // The second switch has an effect only with the first one.
      await app.patch({ block_vpn: false });
      expect(await callEveryEntryPoint(node, app, guests)).toEqual(everywhere('ok'));
    });
  });

  test('vpn_fail_closed does not matter while there is a list', async () => {
    await app.patch({ block_vpn: true, vpn_fail_closed: true });
    expect(
      (await callEntryPoint('verifySession', service, app, guests.verifySession, from('198.51.100.1')))
        .status,
    ).toBe(200);
  });
});

describe('a pause', () => {
  test('refuses logins of every kind, and nothing else', async () => {
    await app.patch({ paused: true });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(
      everywhere('ok', {
        loginUser: '403 APPLICATION_PAUSED',
        loginUserV2: '403 APPLICATION_PAUSED',
        loginWithLicense: '403 APPLICATION_PAUSED',
      }),
    );
    await app.patch({ pause_sessions: true });
    expect((await callEntryPoint('verifySession', service, app, guests.verifySession)).body.code).toBe(
      'APPLICATION_PAUSED',
    );
    expect((await callEntryPoint('verifySessionV2', service, app, guests.verifySessionV2)).body.code).toBe(
      'APPLICATION_PAUSED',
    );
    await app.patch({ paused: false });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(everywhere('ok'));
  });
});

describe('disabled', () => {
  test('refuses everything', async () => {
    await app.patch({ status: 'disabled' });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(everywhere('401 APPLICATION_INACTIVE'));
  });
});

describe('require_signatures', () => {
  test('applies to every request without the secret', async () => {
    await app.patch({ require_signatures: true });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(
      everywhere('ok', {
        loginWithLicense: '401 SIGNATURE_REQUIRED',
        verifySession: '401 SIGNATURE_REQUIRED',
        verifySessionV2: '401 SIGNATURE_REQUIRED',
      }),
    );
  });
});

describe('require_subscription', () => {
  test('applies to every login and verification', async () => {
    const own = await newApp(api);
    const ownGuests = await guestsOf(service, own);
    await own.patch({ require_subscription: true });
    expect(await callEveryEntryPoint(service, own, ownGuests)).toEqual(everywhere('ok'));
    // All subscriptions have ended, but the sessions exist.
    const database = await connectTo(databaseUrl);
    await database.query(
      'delete from subscriptions where user_id in (select user_id from users where app_id = $1)',
      [own.app_id],
    );
    const expired = '403 SUBSCRIPTION_EXPIRED';
    expect(await callEveryEntryPoint(service, own, ownGuests)).toEqual(
      everywhere('ok', {
        loginUser: expired,
        loginUserV2: expired,
        loginWithLicense: expired,
        verifySession: expired,
        verifySessionV2: expired,
      }),
    );
  });
});
