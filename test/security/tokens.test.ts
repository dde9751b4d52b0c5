import {
  createCipheriv,
  createHmac,
  createSecretKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { CompactEncrypt, decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { PreparedSession } from '../../src/licensing/sessions/sessions.ts';
import { DAY } from '../support/clock.ts';
import { newApp, newDeveloper, newSession, newUser, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { clearApplication } from './support/clear.ts';
import { stealKeys, type StolenKeys } from './support/keys.ts';
import { encode, flips, isOther, respellings } from './support/mutations.ts';

const service = await startTestService();
const { api } = service;
const other = await startTestService({ DATABASE_URL: service.databaseUrl });
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const foreignApp = await newApp(api);
const session = await newSession(api, app);
const foreign = await newSession(api, foreignApp);
const keys: StolenKeys = await stealKeys(service);

const verify = (token: string, app_id = app.app_id) => api.verify({ app_id, token });

/** Every operation that takes a session refuses this token with the same error. */
async function expectNoSession(token: string, name = token): Promise<void> {
  const body = { app_id: app.app_id, token };
  const started = performance.now();
  const responses = [await api.verify(body), await other.api.verify(body), await api.logout(body)];
  for (const { status, body: response } of responses) {
    expect({ status, code: response['code' as never] }, name).toEqual({
      status: 401,
      code: 'SESSION_INVALID',
    });
  }
  expect(performance.now() - started).toBeLessThan(5_000);
}

async function expectAlive(): Promise<void> {
  for (const token of [session.token, session.session_id]) expect((await verify(token)).status).toBe(200);
}

describe('the signed token', () => {
  const [header, payload, signature] = session.token.split('.') as [string, string, string];
  const claims = decodeJwt(session.token);

  test('is invalid if respelled, altered, cut or reassembled', async () => {
    const segments: [string, string][] = [
      ['no signature', `${header}.${payload}.`],
      ['two segments', `${header}.${payload}`],
      ['one segment', header],
      ['four segments', `${session.token}.${signature}`],
      ['payload twice', `${header}.${payload}.${payload}.${signature}`],
      ['five segments', `${header}..${payload}..${signature}`],
      ['signature of another', `${header}.${payload}.${foreign.token.split('.')[2]}`],
      ['payload of another', `${header}.${foreign.token.split('.')[1]}.${signature}`],
      ['swapped', `${payload}.${header}.${signature}`],
      ['dots', '...'],
      ['half', session.token.slice(0, session.token.length / 2)],
      ['its header as JSON', JSON.stringify({ protected: header, payload, signature })],
    ];
    for (const [name, token] of [...respellings(session.token), ...flips(session.token, 13), ...segments]) {
      if (isOther(token, session.token)) await expectNoSession(token, name);
    }
    await expectAlive();
  });

  test('is invalid with a foreign key or for another purpose', async () => {
    const pem = keys.publicKey.export({ type: 'spki', format: 'pem' });
    const raw = keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
    const rogue = generateKeyPairSync('ed25519');
    const jwk = rogue.publicKey.export({ format: 'jwk' });
    const input = (fields: object, body: object = claims) => `${encode(fields)}.${encode(body)}`;
    const signed = (fields: object, body: object = claims, key = rogue.privateKey) => {
      const text = input(fields, body);
      return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
    };
    const hmac = (key: string | Buffer) => {
      const text = input({ alg: 'HS256', typ: 'JWT', kid: keys.signingId });
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    };
    const kid = keys.signingId;
    const forgeries: [string, string][] = [
      ...['none', 'None', 'NONE', '', null, 'EdDSA ', 'Ed25519', 'ES256', 'RS256', ['EdDSA']].flatMap(
        (alg): [string, string][] => [
          [`alg ${alg}`, `${input({ alg, typ: 'JWT', kid })}.`],
          [`alg ${alg} with signature`, `${input({ alg, typ: 'JWT', kid })}.${signature}`],
        ],
      ),
      ['no header', `.${payload}.${signature}`],
      ['HS256 with the public key in PEM', hmac(pem as string)],
      ['HS256 with the raw public key', hmac(raw)],
      ['HS256 with nothing', hmac('')],
      ['foreign key, our kid', signed({ alg: 'EdDSA', typ: 'JWT', kid })],
      ['foreign key and kid', signed({ alg: 'EdDSA', typ: 'JWT', kid: 'rogue' })],
      ['kid as a path', signed({ alg: 'EdDSA', typ: 'JWT', kid: '../../../dev/null' })],
      ['kid as SQL', signed({ alg: 'EdDSA', typ: 'JWT', kid: "' or 1=1 --" })],
      ['kid of the prototype', signed({ alg: 'EdDSA', typ: 'JWT', kid: '__proto__' })],
      ['jwk', signed({ alg: 'EdDSA', typ: 'JWT', jwk })],
      ['jku', signed({ alg: 'EdDSA', typ: 'JWT', kid: 'x', jku: 'http://127.0.0.1:1/jwks' })],
      ['x5u', signed({ alg: 'EdDSA', typ: 'JWT', kid: 'x', x5u: 'http://127.0.0.1:1/cert' })],
      ['x5c', signed({ alg: 'EdDSA', typ: 'JWT', kid, x5c: ['AAAA'] })],
      ['crit', signed({ alg: 'EdDSA', typ: 'JWT', kid, crit: ['x'], x: 1 }, claims, keys.privateKey)],
      ['b64', signed({ alg: 'EdDSA', typ: 'JWT', kid, b64: false, crit: ['b64'] }, claims, keys.privateKey)],
      ['typ of a developer', signed({ alg: 'EdDSA', typ: 'developer+jwt', kid }, claims, keys.privateKey)],
      ['no typ', signed({ alg: 'EdDSA', kid }, claims, keys.privateKey)],
      [
        'another aud',
        signed({ alg: 'EdDSA', typ: 'JWT', kid }, { ...claims, aud: foreignApp.app_id }, keys.privateKey),
      ],
      [
        'a list of aud',
        signed({ alg: 'EdDSA', typ: 'JWT', kid }, { ...claims, aud: [app.app_id] }, keys.privateKey),
      ],
      [
        'another sid',
        signed({ alg: 'EdDSA', typ: 'JWT', kid }, { ...claims, sid: 'x'.repeat(22) }, keys.privateKey),
      ],
      [
        'another sub',
        signed({ alg: 'EdDSA', typ: 'JWT', kid }, { ...claims, sub: 'usr_x' }, keys.privateKey),
      ],
      ['a later exp', signed({ alg: 'EdDSA', typ: 'JWT', kid }, { ...claims, exp: 9e9 }, keys.privateKey)],
      ['other order of members', signed({ typ: 'JWT', kid, alg: 'EdDSA' }, claims, keys.privateKey)],
      [
        'a larger role',
        signed({ alg: 'EdDSA', typ: 'JWT', kid }, { ...claims, role: 'admin' }, keys.privateKey),
      ],
    ];
    for (const [name, token] of forgeries) await expectNoSession(token, name);
    await expectAlive();
  });

  test('is invalid if it was never issued, even with a correct signature', async () => {
    const fields = decodeProtectedHeader(session.token) as { alg: string };
    const token = await new SignJWT({ ...claims, jti: 'x' }).setProtectedHeader(fields).sign(keys.privateKey);
    await expectNoSession(token);
  });

  test('contains no more than it needs', () => {
    expect(decodeProtectedHeader(session.token)).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: keys.signingId });
    expect(Object.keys(claims).toSorted()).toEqual(['aud', 'exp', 'iat', 'iss', 'sid', 'sub']);
    const text = Buffer.from(payload, 'base64url').toString();
    for (const secret of [session.owner.hwid, session.owner.password, app.secret])
      expect(text).not.toContain(secret);
  });
});

describe('the encrypted token', () => {
  let made: PreparedSession;
  let parts: string[];

  beforeAll(async () => {
    const application = await service.services.applications.authenticate(app.app_id, app.secret);
    const user = await newUser(api, app);
    const client = { address: '127.0.0.1' };
    made = (await service.services.logins.withPassword(application, user, 'encrypted', client)).session;
    parts = made.token.split('.');
  });

  test('is valid, and nothing inside it is', async () => {
    expect(parts).toHaveLength(5);
    expect((await verify(made.token)).status).toBe(200);
    expect(decodeProtectedHeader(made.token)).toMatchObject({ alg: 'dir', enc: 'A256GCM' });
    expect(decodeProtectedHeader(made.token)).not.toHaveProperty('zip');
    for (const part of parts.filter(Boolean)) await expectNoSession(part);
  });

  test('is invalid if respelled, altered, cut or reassembled', async () => {
    const [header, , iv, ciphertext, tag] = parts as [string, string, string, string, string];
    const joined: [string, string][] = [
      ['no tag', `${header}..${iv}.${ciphertext}.`],
      ['short tag', `${header}..${iv}.${ciphertext}.${tag.slice(0, 6)}`],
      ['no iv', `${header}...${ciphertext}.${tag}`],
      ['iv and tag swapped', `${header}..${tag}.${ciphertext}.${iv}`],
      ['an encrypted key', `${header}.AAAA.${iv}.${ciphertext}.${tag}`],
      ['no ciphertext', `${header}..${iv}..${tag}`],
      ['another alg', `${encode({ alg: 'A256KW', enc: 'A256GCM' })}..${iv}.${ciphertext}.${tag}`],
      [
        'PBES2 for hours',
        `${encode({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', p2c: 2 ** 31, p2s: 'AAAA' })}` +
          `.AAAA.${iv}.${ciphertext}.${tag}`,
      ],
      ['zip', `${encode({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..${iv}.${ciphertext}.${tag}`],
      ['six segments', `${made.token}.x`],
    ];
    for (const [name, token] of [...respellings(made.token), ...flips(made.token, 29), ...joined]) {
      if (isOther(token, made.token)) await expectNoSession(token, name);
    }
    expect((await verify(made.token)).status).toBe(200);
  });

  test('is invalid if it was never issued, even when encrypted with the right key', async () => {
    const fields = { alg: 'dir', enc: 'A256GCM', cty: 'JWT', kid: keys.encryptionId };
    for (const inner of [session.token, made.token, made.sessionId]) {
      const token = await new CompactEncrypt(Buffer.from(inner))
        .setProtectedHeader(fields)
        .encrypt(keys.encryptionKey);
      await expectNoSession(token);
    }
  });

  test('refusing a compression bomb takes less than 50 ms of CPU time', async () => {
    const bomb = (key: Buffer, size: number) => {
      const header = encode({ alg: 'dir', enc: 'A256GCM', zip: 'DEF', kid: keys.encryptionId });
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(header));
      const text = Buffer.concat([cipher.update(deflateRawSync(Buffer.alloc(size))), cipher.final()]);
      return [header, '', ...[iv, text, cipher.getAuthTag()].map((b) => b.toString('base64url'))].join('.');
    };
    const ours = keys.encryptionKey.export();
    for (const token of [bomb(ours, 2_500_000), bomb(createSecretKey(randomBytes(32)).export(), 2_500_000)]) {
      expect(token.length).toBeLessThanOrEqual(4096);
      // Other work in this process can add to a round, so the cheapest one counts.
      const costs: number[] = [];
      for (let round = 0; round < 5; round++) {
        const before = process.cpuUsage();
        expect((await verify(token)).status).toBe(401);
        const { user, system } = process.cpuUsage(before);
        costs.push((user + system) / 1_000);
      }
      expect(Math.min(...costs)).toBeLessThan(50);
    }
    expect((await verify(bomb(ours, 100_000_000))).status).toBe(400);
  });
});

describe('the session id', () => {
  test('is 128 bits, in one spelling only', async () => {
    const id = session.session_id;
    expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(Buffer.from(id, 'base64url')).toHaveLength(16);
    expect(Buffer.from(id, 'base64url').toString('base64url')).toBe(id);
    const variants: [string, string][] = [
      ['21 characters', id.slice(0, 21)],
      ['23 characters', `${id}A`],
      ['hexadecimal', Buffer.from(id, 'base64url').toString('hex')],
      ['as bytes', Buffer.from(id, 'base64url').toString('latin1')],
      ['the digest', 'x'.repeat(22)],
    ];
    for (const [name, token] of [...respellings(id), ...flips(id, 1), ...variants]) {
      if (isOther(token, id)) await expectNoSession(token, name);
    }
    await expectAlive();
  });

  test('of init is not a session', async () => {
    const { body } = await api.init(app.with({}));
    await expectNoSession(String(body['session_id']));
  });
});

describe('tokens of the wrong kind', () => {
  const bearer = (token: string) => api.call('GET', '/api/v2/dev/apps', undefined, { token });

  test('a developer token, a secret or an id is not a session', async () => {
    for (const token of [developer.token, app.secret, app.app_id, developer.developerId, session.user!.id!]) {
      await expectNoSession(token);
    }
  });

  test('a session token, a session id or a secret is not a bearer token', async () => {
    for (const token of [session.token, session.session_id, app.secret, app.app_id, developer.developerId]) {
      const { status, body } = await bearer(token);
      expect({ status, code: body['code'] }, token).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    }
  });

  test('every mutation of a developer token is 401 with a challenge', async () => {
    const [header, payload, signature] = developer.token.split('.') as [string, string, string];
    const mutations: [string, string][] = [
      ...flips(developer.token, 9),
      ...[...respellings(developer.token)].filter(([, token]) => /^[\x21-\x7e]+$/.test(token)),
      ['none', `${encode({ alg: 'none' })}.${payload}.`],
      ['no signature', `${header}.${payload}.`],
      ['four segments', `${developer.token}.${signature}`],
    ];
    for (const [name, token] of mutations) {
      if (!isOther(token, developer.token)) continue;
      const response = await bearer(token);
      expect(response.status, name).toBe(401);
      expect(response.headers.get('www-authenticate'), name).toMatch(/^Bearer /);
    }
    expect((await bearer(developer.token)).status).toBe(200);
  });

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic eDp5',
    'Token x',
    'Bearer a b',
    'Bearer=x',
    'Bearer, x',
    'null',
  ])('Authorization: %j is refused', async (authorization) => {
    const { status } = await api.call('GET', '/api/v2/dev/apps', undefined, { headers: { authorization } });
    expect(status).toBe(401);
  });

  test('no operation takes a bearer token from anywhere but the header', async () => {
    const token = encodeURIComponent(developer.token);
    const places: [string, Record<string, string>][] = [
      [`/api/v2/dev/apps?access_token=${token}`, {}],
      ['/api/v2/dev/apps', { cookie: `token=${token}; Authorization=Bearer ${token}` }],
      ['/api/v2/dev/apps', { 'x-authorization': `Bearer ${developer.token}` }],
      ['/api/v2/dev/apps', { 'proxy-authorization': `Bearer ${developer.token}` }],
    ];
    for (const [path, headers] of places) {
      expect((await api.call('GET', path, undefined, { headers })).status, path).toBe(401);
    }
  });

  test('a session of another application is refused, in both directions', async () => {
    for (const token of [foreign.token, foreign.session_id]) await expectNoSession(token);
    for (const token of [session.token, session.session_id]) {
      const { status, body } = await verify(token, foreignApp.app_id);
      expect({ status, code: body.code }).toEqual({ status: 401, code: 'SESSION_INVALID' });
      expect((await api.logout({ app_id: foreignApp.app_id, token })).status).toBe(401);
    }
    await expectAlive();
    expect((await verify(foreign.token, foreignApp.app_id)).status).toBe(200);
  });

  test.each(['nothing', 'app_', 'APP', ' ', '__proto__', 'x'.repeat(64)])(
    'the wrong app_id %j is refused',
    async (app_id) => {
      const { status, body } = await verify(session.token, app_id);
      expect({ status, code: body.code }).toEqual({ status: 401, code: 'SESSION_INVALID' });
    },
  );

  test.each(
    [null, 0, true, [], {}, [session.token], { token: session.token }, { toString: session.token }].map(
      (token) => ({ token }),
    ),
  )('a token of the type of $token is a 400', async ({ token }) => {
    for (const path of ['/api/v1/client/verify-session', '/api/v1/client/logout']) {
      const { status, body } = await api.post(path, { app_id: app.app_id, token });
      expect({ status, code: body['code'] }).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
    }
    await expectAlive();
  });
});

describe('after a session has ended, on both nodes', () => {
  const services = [service, other];

  interface Trial {
    readonly name: string;
    readonly end: (app: App, token: string) => Promise<{ status: number }>;
  }
  const change = (changes: object) => (target: App) =>
    api.call('PATCH', `/api/v2/dev/apps/${target.app_id}`, changes, target);

  const trials: Trial[] = [
    { name: 'logout', end: (target, token) => api.logout({ app_id: target.app_id, token }) },
    {
      name: 'logout at the other service',
      end: (target, token) => other.api.logout({ app_id: target.app_id, token }),
    },
    { name: 'a pause with pause_sessions', end: change({ status: 'paused', pause_sessions: true }) },
    { name: 'disabling the application', end: change({ status: 'disabled' }) },
    {
      name: 'deleting the application',
      end: (target) => api.call('DELETE', `/api/v2/dev/apps/${target.app_id}`, undefined, target),
    },
  ];

  test.each(trials)('$name: no later verification succeeds', async ({ end }) => {
    for (let round = 0; round < 2; round++) {
      const target = await newApp(api, await newDeveloper(api));
      const victim = await newSession(api, target);
      const seen: { began: number; status: number }[] = [];
      let running = true;
      onTestFinished(() => void (running = false));
      const streams = services.flatMap((each) =>
        [victim.token, victim.session_id].flatMap((token) =>
          [0, 1].map(async () => {
            while (running) {
              const began = performance.now();
              // Skips the contract check, which takes longer than the response.
              const response = await fetch(`${each.baseUrl}/api/v1/client/verify-session`, {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ app_id: target.app_id, token }),
              });
              await response.arrayBuffer();
              seen.push({ began, status: response.status });
            }
          }),
        ),
      );
      await expect.poll(() => seen.length, { interval: 2 }).toBeGreaterThan(20);
      expect((await end(target, round % 2 ? victim.token : victim.session_id)).status).toBe(200);
      const ended = performance.now();
      const before = seen.length;
      await expect.poll(() => seen.length, { interval: 2 }).toBeGreaterThan(before + 40);
      running = false;
      await Promise.all(streams);

      expect(seen.some(({ began, status }) => began < ended && status === 200)).toBe(true);
      const late = seen.filter(({ began }) => began > ended);
      expect(late.length).toBeGreaterThan(10);
      expect(late.filter(({ status }) => status < 400 || status >= 500)).toEqual([]);
    }
  });

  test('a login on the same machine or above the limit ends older sessions', async () => {
    const target = await newApp(api);
    await target.patch({ max_sessions: 2, hwid_lock: false });
    const user = await newUser(api, target);
    const login = async (hwid: string) => (await other.api.login(target.with({ ...user, hwid }))).body;
    const statusOf = async (each: (typeof services)[number], token: string) =>
      (await each.api.verify({ app_id: target.app_id, token })).status;

    const first = await login('one');
    const again = await login('one');
    for (const each of services) {
      expect(await statusOf(each, first.token)).toBe(401);
      expect(await statusOf(each, first.session_id)).toBe(401);
      expect(await statusOf(each, again.token)).toBe(200);
    }
    for (const each of services) each.clock.advance(1_000);
    await login('two');
    await login('three');
    for (const each of services) expect(await statusOf(each, again.token)).toBe(401);
  });

  test('one of fifty concurrent logouts ends a session', async () => {
    const target = await newApp(api);
    const victim = await newSession(api, target);
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const token = index % 3 ? victim.token : victim.session_id;
        return services[index % 2]!.api.logout({ app_id: target.app_id, token });
      }),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(49);
  });

  test('a session of a deleted application stays invalid after its rows are deleted', async () => {
    const target = await newApp(api);
    const victim = await newSession(api, target);
    await api.call('DELETE', `/api/v2/dev/apps/${target.app_id}`, undefined, target);
    await clearApplication(other, target.app_id);
    for (const each of services) {
      const { status } = await each.api.verify({ app_id: target.app_id, token: victim.token });
      expect(status).toBe(401);
    }
  });

  test('sessions and developer tokens expire after exactly a day', async () => {
    const owner = await newDeveloper(api);
    const target = await newApp(api, owner);
    const { token: signed, session_id } = await newSession(api, target);
    const list = (each: (typeof services)[number]) =>
      each.api.call('GET', '/api/v2/dev/apps', undefined, owner);
    for (const each of services) each.clock.advance(DAY - 1);
    for (const each of services) {
      expect((await each.api.verify({ app_id: target.app_id, token: signed })).status).toBe(200);
      expect((await list(each)).status).toBe(200);
    }
    for (const each of services) each.clock.advance(1);
    for (const each of services) {
      for (const token of [signed, session_id]) {
        const { status, body } = await each.api.verify({ app_id: target.app_id, token });
        expect({ status, code: body.code }).toEqual({ status: 401, code: 'SESSION_EXPIRED' });
      }
      expect((await list(each)).status).toBe(401);
    }
    // A caller who may not see a session does not learn that it has expired.
    expect((await verify(signed, foreignApp.app_id)).body.code).toBe('SESSION_INVALID');
  });
});
