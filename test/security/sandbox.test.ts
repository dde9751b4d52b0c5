import { createHmac, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import pLimit from 'p-limit';
import { describe, expect, test } from 'vitest';
import { connectTo } from '../support/database.ts';
import { newHwid } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { stealKeys } from './support/keys.ts';
import { encode, flips, isOther, respellings } from './support/mutations.ts';

const HOUR = 3_600_000;

const service = await startTestService();
const { api } = service;
const other = await startTestService({ DATABASE_URL: service.databaseUrl });
const keys = await stealKeys(service);
const agent = { app_id: 'sandbox', username: 'agent', hwid: newHwid() };

async function newToken(body: object = agent, at = api): Promise<string> {
  const response = await at.post<{ token: string }>('/api/v1/sandbox/auth', body);
  expect(response.status).toBe(200);
  return response.body.token;
}
const verify = (token: string, more: object = {}, at = api) =>
  at.post('/api/v1/sandbox/verify-session', { app_id: agent.app_id, token, ...more });

const token = await newToken();
const [header, payload, signature] = token.split('.') as [string, string, string];
const claims = decodeJwt(token);
const kid = keys.signingId;

/** A token with this header and payload, signed with the right key by default. */
function made(fields: object, body: object = claims, key: KeyObject = keys.privateKey): string {
  const text = `${encode(fields)}.${encode(body)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}

async function expectInvalid(forged: string, name: string): Promise<void> {
  for (const each of [api, other.api]) {
    const { status, body } = await verify(forged, {}, each);
    expect({ status, code: body['code'] }, name).toEqual({ status: 401, code: 'SESSION_INVALID' });
  }
}

describe('a sandbox token', () => {
  test('is valid on every node, for its application and machine only', async () => {
    for (const each of [api, other.api]) {
      for (const more of [{}, { hwid: agent.hwid }])
        expect((await verify(token, more, each)).status).toBe(200);
      for (const app_id of ['Sandbox', 'sandbox ', 'sandbox\u0000', 'app_x', '__proto__', 'x'.repeat(64)]) {
        const { status, body } = await verify(token, { app_id }, each);
        expect(status, app_id).toBeGreaterThanOrEqual(400);
        if (status === 401) expect(body['code']).toBe('SESSION_INVALID');
      }
      for (const hwid of [newHwid(), agent.hwid.toUpperCase(), agent.hwid.slice(1), `${agent.hwid} `]) {
        const { status, body } = await verify(token, { hwid }, each);
        expect({ status, code: body['code'] }, hwid).toEqual({ status: 403, code: 'HWID_MISMATCH' });
      }
    }
  });

  test('contains no more than it needs', () => {
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'sandbox+jwt', kid });
    expect(Buffer.from(payload, 'base64url').toString()).not.toContain(agent.hwid);
    expect(Object.keys(claims).toSorted()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'machine', 'sub']);
  });

  test('is invalid if respelled, altered, cut or reassembled', async () => {
    const another = (await newToken({ ...agent, username: 'another' })).split('.');
    const joined: [string, string][] = [
      ['no signature', `${header}.${payload}.`],
      ['two segments', `${header}.${payload}`],
      ['one segment', header],
      ['four segments', `${token}.${signature}`],
      ['signature of another', `${header}.${payload}.${another[2]}`],
      ['payload of another', `${header}.${another[1]}.${signature}`],
      ['swapped', `${payload}.${header}.${signature}`],
      ['dots', '..'],
      ['half', token.slice(0, token.length / 2)],
      ['as JSON', JSON.stringify({ protected: header, payload, signature })],
      ['padded signature', `${header}.${payload}.${signature}==`],
      ['a longer signature', `${header}.${payload}.${signature}AAAA`],
      ['a shorter signature', `${header}.${payload}.${signature.slice(0, -4)}`],
      ['zeros', `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`],
    ];
    const accepted: string[] = [];
    const some = pLimit(8);
    await some.map([...respellings(token), ...flips(token, 1), ...joined], async ([name, text]) => {
      if (!isOther(text, token)) return;
      const { status, body } = await verify(text);
      if (status === 200) accepted.push(name);
      else expect([400, 401], name).toContain(status);
      if (status === 401) expect(body['code'], name).toBe('SESSION_INVALID');
    });
    expect(accepted, 'mutations that pass as the token').toEqual([]);
    expect((await verify(token)).status).toBe(200);
  });

  test('is invalid with a foreign key or for another purpose', async () => {
    const pem = keys.publicKey.export({ type: 'spki', format: 'pem' });
    const raw = keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
    const rogue = generateKeyPairSync('ed25519');
    const jwk = rogue.publicKey.export({ format: 'jwk' });
    const typ = 'sandbox+jwt';
    const right = { alg: 'EdDSA', typ, kid };
    const hmac = (key: string | Buffer, alg = 'HS256') => {
      const text = `${encode({ alg, typ, kid })}.${encode(claims)}`;
      return `${text}.${createHmac(alg === 'HS256' ? 'sha256' : 'sha512', key)
        .update(text)
        .digest('base64url')}`;
    };
    const without = (name: string) => {
      const { [name]: _gone, ...rest } = claims;
      return rest;
    };
    const forgeries: [string, string][] = [
      ...['none', 'None', 'NONE', '', null, 'EdDSA ', 'eddsa', 'ES256', 'RS256', 'HS256', ['EdDSA']].flatMap(
        (alg): [string, string][] => [
          [`alg ${alg}`, `${encode({ alg, typ, kid })}.${payload}.`],
          [`alg ${alg} with signature`, `${encode({ alg, typ, kid })}.${payload}.${signature}`],
          [`alg ${alg}, signed by us`, made({ alg, typ, kid })],
        ],
      ),
      ['HS256 with the public key in PEM', hmac(pem as string)],
      ['HS256 with the raw public key', hmac(raw)],
      ['HS512 with the raw public key', hmac(raw, 'HS512')],
      ['HS256 with nothing', hmac('')],
      ['HS256 with the key of encryption', hmac(keys.encryptionKey.export())],
      ['foreign key, our kid', made(right, claims, rogue.privateKey)],
      ['jwk', made({ ...right, jwk }, claims, rogue.privateKey)],
      ['jku', made({ ...right, jku: 'http://127.0.0.1:1/jwks' }, claims, rogue.privateKey)],
      ['x5u', made({ ...right, x5u: 'http://127.0.0.1:1/cert' }, claims, rogue.privateKey)],
      ['kid as a path', made({ ...right, kid: '../../../dev/null' }, claims, rogue.privateKey)],
      ['crit, signed by us', made({ ...right, crit: ['x'], x: 1 })],
      ['crit of nothing', made({ ...right, crit: [] })],
      ['b64, signed by us', made({ ...right, b64: false, crit: ['b64'] })],
      ['typ JWT', made({ alg: 'EdDSA', typ: 'JWT', kid })],
      ['typ of a developer', made({ alg: 'EdDSA', typ: 'developer+jwt', kid })],
      ['no typ', made({ alg: 'EdDSA', kid })],
      ['typ of another type', made({ alg: 'EdDSA', typ: ['sandbox+jwt'], kid })],
      ['another aud', made(right, { ...claims, aud: 'another' })],
      ['a list of aud', made(right, { ...claims, aud: ['sandbox', 'another'] })],
      ['no aud', made(right, without('aud'))],
      ['no exp', made(right, without('exp'))],
      ['no sub', made(right, without('sub'))],
      ['no machine', made(right, without('machine'))],
      ['exp as text', made(right, { ...claims, exp: String(claims.exp) })],
      ['exp as null', made(right, { ...claims, exp: null })],
      ['an array as payload', made(right, [])],
      ['null as payload', made(right, null as unknown as object)],
    ];
    for (const [name, forged] of forgeries) {
      const { status, body } = await verify(forged);
      expect({ status, code: body['code'] }, name).toEqual({ status: 401, code: 'SESSION_INVALID' });
    }
    expect((await verify(token)).status).toBe(200);
  });

  test('is invalid with the id of a removed key', async () => {
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', typ: 'sandbox+jwt', kid: 'removed' })
      .sign(generateKeyPairSync('ed25519').privateKey);
    await expectInvalid(forged, 'removed');
  });

  test('expires after exactly an hour, on every node', async () => {
    const own = await newToken();
    for (const each of [service, other]) each.clock.advance(HOUR - 1_000);
    for (const each of [service, other]) expect((await verify(own, {}, each.api)).status).toBe(200);
    for (const each of [service, other]) each.clock.advance(1_000);
    for (const each of [service, other]) {
      const { status, body } = await verify(own, {}, each.api);
      expect({ status, code: body['code'] }).toEqual({ status: 401, code: 'SESSION_EXPIRED' });
      // A caller who may not see the token does not learn that it has expired.
      const foreign = await verify(own, { app_id: 'another' }, each.api);
      expect(foreign.body['code']).toBe('SESSION_INVALID');
    }
  });

  test('is not stored, and a name that exists makes no difference', async () => {
    const database = await connectTo(service.databaseUrl);
    const count = async () => {
      const { rows } = await database.query<{ n: number }>(
        `select (select count(*) from users) + (select count(*) from sessions) + (select count(*) from nonces)
           + (select count(*) from applications) as n`,
      );
      return rows[0]!.n;
    };
    const before = await count();
    for (let n = 0; n < 20; n += 1) await verify(await newToken({ ...agent, username: `agent ${n}` }));
    expect(await count()).toBe(before);
  });

  test('refusing a token bomb takes less than 50 ms of CPU time', async () => {
    const deep = `${'['.repeat(1_200)}${']'.repeat(1_200)}`;
    const bombs = [
      '.'.repeat(4_096),
      `${Buffer.from(deep).toString('base64url').slice(0, 3_000)}..`,
      `${encode({ alg: 'EdDSA', typ: 'sandbox+jwt' })}.${'A'.repeat(3_900)}.AAAA`,
      `${encode({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..${'A'.repeat(3_800)}.AA.AA`,
      randomBytes(2_000).toString('base64url'),
    ];
    for (const bomb of bombs) {
      const costs: number[] = [];
      for (let round = 0; round < 5; round++) {
        const before = process.cpuUsage();
        expect((await verify(bomb)).status).toBe(401);
        const { user, system } = process.cpuUsage(before);
        costs.push((user + system) / 1_000);
      }
      expect(Math.min(...costs)).toBeLessThan(50);
    }
  });
});
