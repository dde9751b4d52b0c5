import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LightClient, type LightResponse } from '../concurrency/load.ts';
import { hmac, sign, V2_OPERATIONS, type V2Operation } from '../concurrency/signed.ts';
import { newApp, newNonce, newSession, newUser, unique } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { sendRaw } from './support/raw.ts';

const service = await startTestService();
const { api } = service;
const client = new LightClient(service.baseUrl);
const app = await newApp(api);
const foreignApp = await newApp(api);
const session = await newSession(api, app);
// A separate user, because a login ends the earlier session of the machine.
const visitor = await newUser(api, app);
const [licenseKey] = await app.keys(1);
const pathOf = (operation: V2Operation) => `/api/v2/client/${operation}`;
const now = () => service.clock.now().getTime();

/** A body that is accepted with a correct signature. The logout names a session that never existed, so it ends none. */
function bodyOf(operation: V2Operation, nonce: string = newNonce()): object {
  const bodies = {
    login: visitor,
    'login-license': { license_key: licenseKey, hwid: visitor.hwid },
    'verify-session': { token: session.token, hwid: session.owner.hwid },
    logout: { session_token: 'x'.repeat(22) },
  };
  return { ...bodies[operation], nonce };
}

/** The status for a correct signature. */
const ACCEPTED: Readonly<Record<V2Operation, number>> = {
  login: 200,
  'login-license': 200,
  'verify-session': 200,
  logout: 401,
};

const post = (
  operation: V2Operation,
  text: string | Uint8Array,
  headers: Record<string, string>,
): Promise<{ status: number; body: Record<string, unknown> }> =>
  api.post(pathOf(operation), text, { headers });

const codeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  `${status} ${String(body['code'])}`;

/** Expects that the signature was accepted. */
function expectAccepted(operation: V2Operation, response: { status: number; body: Record<string, unknown> }) {
  expect(response.status, JSON.stringify(response.body)).toBe(ACCEPTED[operation]);
  if (operation === 'logout') expect(response.body['code']).toBe('SESSION_INVALID');
}

describe.each(V2_OPERATIONS.map((operation) => ({ operation })))('$operation', ({ operation }) => {
  const signed = (nonce?: string) => sign(app, bodyOf(operation, nonce), now());

  test('is accepted as signed, with hexadecimal digits in either case', async () => {
    const one = signed();
    expectAccepted(operation, await post(operation, one.text, one.headers));
    const other = signed();
    const upper = { ...other.headers, 'x-signature': other.headers['x-signature'].toUpperCase() };
    expectAccepted(operation, await post(operation, other.text, upper));
    // The signature covers the text, so other white space and order are accepted if signed as sent.
    const spaced = JSON.stringify(JSON.parse(signed().text), null, 2);
    const of = sign(app, spaced, now());
    expectAccepted(operation, await post(operation, of.text, of.headers));
  });

  test('a flipped bit in any byte of the body is refused, and spends no nonce', async () => {
    const { text, headers } = signed();
    const bytes = Buffer.from(text);
    const kinds = new Set<string>();
    // All eight bits of each byte would take too long: one bit per byte, at rotating positions.
    await Promise.all(
      Array.from({ length: bytes.length }, async (_, at) => {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= 1 << (at % 8);
        const response = await post(operation, flipped, headers);
        expect(response.status, flipped.toString('latin1')).toBeGreaterThanOrEqual(400);
        kinds.add(codeOf(response));
      }),
    );
    // A readable body fails for its signature. One that can't be parsed, or names no application, fails before that.
    for (const kind of kinds)
      expect([
        '401 INVALID_APP_CREDENTIALS',
        '400 MALFORMED_JSON',
        '400 VALIDATION_FAILED',
        // Without an app_id, the signature can't be checked.
      ]).toContain(kind);
    expect(kinds).toContain('401 INVALID_APP_CREDENTIALS');
    expectAccepted(operation, await post(operation, text, headers));
  });

  test('a body with additions or omissions is refused', async () => {
    const { text, headers } = signed();
    const others: (string | Uint8Array)[] = [
      `${text} `,
      ` ${text}`,
      `${text}\n`,
      `\t${text}`,
      text.replace('{', '{ '),
      text.replace(/}$/, ' }'),
      text.replace(/}$/, ',"more":1}'),
      text.replace('{', '{"more":1,'),
      text.replace(/"nonce"/, '"\\u006eonce"'),
      text.replace(/"hwid":"[^"]*"/, '"hwid":"another machine"'),
      text.replace(/"nonce":"[^"]*"/, `"nonce":"${newNonce()}"`),
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).toReversed())),
    ];
    for (const each of others) {
      if (each === text) continue;
      const response = await post(operation, each, headers);
      expect(codeOf(response), String(each)).toBe('401 INVALID_APP_CREDENTIALS');
    }
    expect(codeOf(await post(operation, `\ufeff${text}`, headers))).toMatch(/^4\d\d /);
    expectAccepted(operation, await post(operation, text, headers));
  });

  test('signatures with another secret, over another body or by another function are refused', async () => {
    const { text, headers } = signed();
    const right = headers['x-signature'];
    const { username, hwid } = session.owner;
    const wrong: Record<string, string> = {
      'the secret of another application': hmac(foreignApp.secret, text),
      'of the empty body': hmac(app.secret, ''),
      'of the body with a line feed': hmac(app.secret, `${text}\n`),
      'of time and body': hmac(app.secret, headers['x-timestamp'] + text),
      'of the body as JSON text': hmac(app.secret, JSON.stringify(text)),
      'under no secret': hmac('', text),
      'under the app_id': hmac(app.app_id, text),
      'under the secret without its mark': hmac(app.secret.replace(/^sk_/, ''), text),
      'under the secret, trimmed of a letter': hmac(app.secret.slice(0, -1), text),
      'under the digest of the secret': hmac(createHash('sha256').update(app.secret).digest('hex'), text),
      'under the user': hmac(username, text),
      'under the machine': hmac(hwid, text),
      'no HMAC at all': createHash('sha256').update(text).digest('hex'),
      'secret before text': createHash('sha256')
        .update(app.secret + text)
        .digest('hex'),
      zeros: '0'.repeat(64),
    };
    for (const [name, signature] of Object.entries(wrong)) {
      const response = await post(operation, text, { ...headers, 'x-signature': signature });
      expect(codeOf(response), name).toBe('401 INVALID_APP_CREDENTIALS');
    }
    // Each of the 256 bits of the digest counts.
    await Promise.all(
      Array.from({ length: 64 }, async (_, at) => {
        const digit = (parseInt(right[at]!, 16) ^ (1 << (at % 4))).toString(16);
        const flipped = right.slice(0, at) + digit + right.slice(at + 1);
        const response = await post(operation, text, { ...headers, 'x-signature': flipped });
        expect(codeOf(response), `digit ${at}`).toBe('401 INVALID_APP_CREDENTIALS');
      }),
    );
    expectAccepted(operation, await post(operation, text, headers));
  });

  test('a signature other than 64 hexadecimal digits is refused', async () => {
    const { text, headers } = signed();
    const right = headers['x-signature'];
    const spelled: Record<string, string> = {
      empty: '',
      'one digit short': right.slice(0, -1),
      'two digits short': right.slice(0, -2),
      'one digit more': `${right}0`,
      'two digits more': `${right}00`,
      'with its name': `sha256=${right}`,
      'with 0x': `0x${right}`,
      'with a letter after it': `${right}g`,
      'with a hyphen after it': `${right}-`,
      'with a tab within': `${right.slice(0, 32)}\t${right.slice(32)}`,
      'with colons': right.match(/../g)!.join(':'),
      'in base64': Buffer.from(right, 'hex').toString('base64'),
      'in base64url': Buffer.from(right, 'hex').toString('base64url'),
      quoted: `"${right}"`,
      twice: right + right,
      'a list': `${right}, ${right}`,
      'a list of none and it': `, ${right}`,
      'high bytes': '\xe9'.repeat(64),
      'no digits': 'g'.repeat(64),
      long: 'a'.repeat(8_000),
      'digits of full width': Buffer.from(
        [...right].map((c) => String.fromCodePoint(c.codePointAt(0)! + 0xfee0)).join(''),
      ).toString('latin1'),
    };
    for (const [name, signature] of Object.entries(spelled)) {
      const response = await post(operation, text, { ...headers, 'x-signature': signature });
      expect([400, 401], name).toContain(response.status);
    }
    expectAccepted(operation, await post(operation, text, headers));
  });

  test('white space around a header is ignored, and a header sent twice is refused', async () => {
    const raw = async (extra: (right: string, time: string) => string[]) => {
      const { text, headers } = signed();
      const lines = extra(headers['x-signature'], headers['x-timestamp']);
      const head = `POST ${pathOf(operation)} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
      const length = `Content-Length: ${Buffer.byteLength(text)}\r\n`;
      const { responses } = await sendRaw(
        service.baseUrl,
        `${head}${length}${lines.join('\r\n')}\r\n\r\n${text}`,
      );
      return {
        status: responses[0]!.status,
        body: JSON.parse(responses[0]!.text) as Record<string, unknown>,
      };
    };
    const spaced = await raw((right, time) => [`X-Signature:  \t${right}  `, `X-TIMESTAMP:${time} `]);
    expectAccepted(operation, spaced);
    const zeros = '0'.repeat(64);
    for (const lines of [
      (right: string, time: string) => [
        `x-signature: ${right}`,
        `x-signature: ${right}`,
        `x-timestamp: ${time}`,
      ],
      (right: string, time: string) => [
        `x-signature: ${zeros}`,
        `X-Signature: ${right}`,
        `x-timestamp: ${time}`,
      ],
      (right: string, time: string) => [
        `x-signature: ${right}`,
        `X-Signature: ${zeros}`,
        `x-timestamp: ${time}`,
      ],
      (right: string, time: string) => [
        `x-signature: ${right}`,
        `x-timestamp: ${time}`,
        `x-timestamp: ${time}`,
      ],
      (right: string, time: string) => [`x-signature: ${right}`, `x-timestamp: ${time}`, `x-timestamp: 0`],
      (right: string, time: string) => [`x-signature: ${right}`, ` ${right}`, `x-timestamp: ${time}`],
      (right: string, time: string) => [
        `x_signature: ${right}`,
        `x_timestamp: ${time}`,
        `x-signature: ${zeros}`,
      ],
    ]) {
      const response = await raw(lines);
      expect([400, 401], JSON.stringify(lines('right', 'time'))).toContain(response.status);
      if (operation === 'logout') expect(response.body['code']).not.toBe('SESSION_INVALID');
    }
  });

  test('a time up to 300 s off is accepted, and any other is refused with the server time', async () => {
    const at = async (timestamp: string) => {
      const { text, headers } = signed();
      return post(operation, text, { ...headers, 'x-timestamp': timestamp });
    };
    for (const off of [-300_000, -1, 0, 1, 300_000]) expectAccepted(operation, await at(String(now() + off)));
    for (const off of [-300_001, 300_001, -86_400_000, 1e12]) {
      const response = await at(String(now() + off));
      expect(codeOf(response), String(off)).toBe('401 TIMESTAMP_OUT_OF_RANGE');
      expect(response.body['server_time']).toBe(service.clock.now().toISOString());
    }
    const seconds = String(Math.floor(now() / 1_000));
    const spelled = [
      seconds, '0', '', '-1', `-${now()}`, `+${now()}`, `${now()}.0`, `0x${now().toString(16)}`, `${now()}ms`,
      `${now()} 1`, '1e12', 'NaN', 'Infinity', 'now', service.clock.now().toISOString(), '9'.repeat(15),
      '9'.repeat(16), '9'.repeat(400), `"${now()}"`, '\xb2\xb3', `${now()}, ${now()}`,
    ]; // prettier-ignore
    for (const timestamp of spelled) {
      const response = await at(timestamp);
      expect([400, 401], timestamp).toContain(response.status);
      if (operation === 'logout') expect(response.body['code'], timestamp).not.toBe('SESSION_INVALID');
    }
  });

  test('one of the two headers alone is refused, not treated as unsigned', async () => {
    const { text, headers } = signed();
    for (const name of ['x-signature', 'x-timestamp'] as const) {
      const response = await post(operation, text, { [name]: headers[name] });
      expect(codeOf(response), `${name} alone`).toBe('401 SIGNATURE_REQUIRED');
    }
    expectAccepted(operation, await post(operation, text, headers));
  });

  test('a nonce works once per application, and another spelling is another nonce', async () => {
    const nonce = newNonce();
    const first = signed(nonce);
    expectAccepted(operation, await post(operation, first.text, first.headers));
    expect(codeOf(await post(operation, first.text, first.headers))).toBe('401 NONCE_REUSED');
    // Also for another request, at another time or for another operation.
    service.clock.advance(1_000);
    for (const other of V2_OPERATIONS) {
      const again = sign(app, bodyOf(other, nonce), now());
      expect(codeOf(await post(other, again.text, again.headers)), other).toBe('401 NONCE_REUSED');
    }
    for (const another of [nonce.toUpperCase(), `${nonce} `, nonce.slice(1), `${nonce}\u0301`]) {
      const { text, headers } = signed(another);
      expectAccepted(operation, await post(operation, text, headers));
    }
    const elsewhere = sign(foreignApp, bodyOf(operation, nonce), now());
    expect(codeOf(await post(operation, elsewhere.text, elsewhere.headers))).not.toBe('401 NONCE_REUSED');
  });

  test('a request that is refused for its signature, time or body spends no nonce', async () => {
    const nonce = newNonce();
    const { text, headers } = signed(nonce);
    const early = String(now() - 300_001);
    expect(codeOf(await post(operation, text, { ...headers, 'x-signature': '0'.repeat(64) }))).toMatch(
      /^401/,
    );
    expect(codeOf(await post(operation, text, { ...headers, 'x-timestamp': early }))).toMatch(/^401/);
    const invalid = sign(app, { ...bodyOf(operation, nonce), hwid: '', session_token: '' }, now());
    expect(codeOf(await post(operation, invalid.text, invalid.headers))).toBe('400 VALIDATION_FAILED');
    expectAccepted(operation, await post(operation, text, headers));
  });

  test('an unknown application and a wrong signature get the same response', async () => {
    const comparableOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => ({
      status,
      body: { ...body, timestamp: '', request_id: '' },
    });
    const deleted = await newApp(api);
    await api.call('DELETE', `/api/v2/dev/apps/${deleted.app_id}`, undefined, deleted);
    const responses = [];
    for (const who of [
      { app_id: app.app_id, secret: foreignApp.secret },
      { app_id: 'app_nothing', secret: app.secret },
      { app_id: foreignApp.app_id, secret: app.secret },
      { app_id: `${app.app_id} `, secret: app.secret },
      { app_id: app.app_id.toUpperCase(), secret: app.secret },
      { app_id: '__proto__', secret: app.secret },
      deleted,
    ]) {
      const { text, headers } = sign(who, bodyOf(operation), now());
      responses.push(comparableOf(await post(operation, text, headers)));
    }
    for (const response of responses) expect(response).toEqual(responses[0]);
    expect(responses[0]).toMatchObject({ status: 401, body: { code: 'INVALID_APP_CREDENTIALS' } });
  });

  test('a body with a duplicate member or in an array is refused', async () => {
    const { text } = signed();
    const inner = text.slice(1, -1);
    for (const body of [
      `{"app_id":"${foreignApp.app_id}",${inner}}`,
      `{${inner},"app_id":"${foreignApp.app_id}"}`,
      `{${inner},"\\u0061pp_id":"${foreignApp.app_id}"}`,
      `{${inner},"nonce":"${newNonce()}"}`,
      `[${text}]`,
    ]) {
      for (const { secret } of [app, foreignApp]) {
        const { headers } = sign({ app_id: '', secret }, body, now());
        expect((await post(operation, body, headers)).status, body).toBe(400);
      }
    }
  });
});

describe('the signature of a response', () => {
  test('covers the nonce, a dot and the canonical JSON of the response, and nothing else', async () => {
    // Version 1 responses to unsigned requests exist only without bind_responses.
    await app.patch({ bind_responses: false });
    onTestFinished(() => app.patch({ bind_responses: true }));
    const nonce = newNonce();
    const login = sign(app, bodyOf('login', nonce), now());
    const responses: [string, LightResponse['body']][] = [];
    const { body } = await post('login', login.text, login.headers);
    responses.push([nonce, body]);
    const token = body['token'] as string;
    for (const [operation, more, signs] of [
      ['verify-session', { token, nonce: newNonce() }, true],
      ['verify-session', { token, nonce: '\u00e9\u{1f511} "\\ \u2028 nonce' }, false],
      ['login-license', { license_key: licenseKey, hwid: visitor.hwid, nonce: newNonce() }, true],
      ['login-license', { license_key: licenseKey, hwid: visitor.hwid }, false],
      ['logout', { session_token: token, nonce: newNonce() }, false],
    ] as const) {
      const request = sign(app, more, now());
      // The login with the key ended the machine's earlier session, so the logout ends the latest.
      const ended = operation === 'logout' ? { session_token: responses.at(-1)![1]['token'] } : {};
      const text = operation === 'logout' ? sign(app, { ...more, ...ended }, now()).text : request.text;
      const response = await post(operation, text, signs ? request.headers : {});
      expect(response.status, operation).toBe(200);
      responses.push([('nonce' in more && more.nonce) || '', response.body]);
    }
    for (const [sent, { signature, ...rest }] of responses) {
      // Flat objects of strings and booleans with ASCII names are canonical if sorted by name (RFC 8785).
      const canonical = JSON.stringify(rest, Object.keys(rest).toSorted());
      expect(signature).toBe(hmac(app.secret, `${sent}.${canonical}`));
    }
  });

  test('the response to a verification without a nonce is not signed', async () => {
    const owner = await newSession(api, app);
    const body = { token: owner.token };
    const { text, headers } = sign(app, body, now());
    for (const each of [headers, {}]) {
      const response = await post('verify-session', text, each);
      expect(response.status).toBe(200);
      expect(response.body).not.toHaveProperty('signature');
    }
  });
});

describe('where signatures are required', () => {
  test('an unsigned request reveals, ends and starts no session', async () => {
    const strict = await newApp(api);
    const own = await newSession(api, strict);
    const [unused, used] = await strict.keys(2);
    const first = sign(strict, { license_key: used, hwid: 'm', nonce: newNonce() }, now());
    expect((await post('login-license', first.text, first.headers)).status).toBe(200);
    await strict.patch({ require_signatures: true });
    const { app_id } = strict;
    const stranger = await newSession(api, foreignApp);
    for (const license_key of [unused, used, '00000-00000-00000-00000-00000', 'no key']) {
      const response = await client.post(pathOf('login-license'), { app_id, license_key, hwid: 'm' });
      expect(codeOf(response)).toBe('401 SIGNATURE_REQUIRED');
    }
    for (const more of [{}, { nonce: newNonce() }]) {
      for (const token of [own.token, own.session_id]) {
        const verified = await client.post(pathOf('verify-session'), { app_id, token, ...more });
        expect(codeOf(verified)).toBe('401 SIGNATURE_REQUIRED');
        const ended = await client.post(pathOf('logout'), { app_id, token, ...more });
        expect(codeOf(ended)).toBe('401 SIGNATURE_REQUIRED');
      }
      const foreign = await client.post(pathOf('verify-session'), { app_id, token: stranger.token, ...more });
      expect(foreign.code).toBe('SESSION_INVALID');
    }
    const right = sign(strict, { token: own.token, nonce: newNonce() }, now());
    expect((await post('verify-session', right.text, right.headers)).status).toBe(200);
    const key = sign(strict, { license_key: unused, hwid: unique('m'), nonce: newNonce() }, now());
    expect((await post('login-license', key.text, key.headers)).status, 'the key is unspent').toBe(200);
  });

  test('a disabled application refuses everything but logouts, signed or not', async () => {
    const target = await newApp(api);
    const sessions = [];
    for (let n = 0; n < 3; n += 1) sessions.push(await newSession(api, target));
    await target.patch({ status: 'disabled' });
    const { app_id } = target;
    const [one, two, three] = sessions.map(({ token }) => ({ session_token: token }));
    const request = sign(target, { ...three, nonce: newNonce() }, now());
    const responses = [
      await client.post(pathOf('logout'), { app_id, ...one }),
      await client.post(pathOf('logout'), { app_id, ...two, nonce: newNonce() }),
      await post('logout', request.text, request.headers),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const operation of ['login', 'login-license', 'verify-session'] as const) {
      const body = { ...sessions[0]!.owner, license_key: 'no key', token: 'x', nonce: newNonce() };
      const { text, headers } = sign(target, body, now());
      expect((await post(operation, text, headers)).status, operation).toBe(401);
    }
    await target.patch({ status: 'active' });
    for (const { token } of sessions) expect((await api.verify({ app_id, token })).status).toBe(401);
  });

  test('a refused logout ends nothing', async () => {
    const target = await newApp(api);
    const own = await newSession(api, target);
    await target.patch({ require_signatures: true });
    const { app_id } = target;
    const wrong = sign({ app_id, secret: foreignApp.secret }, { session_token: own.token }, now());
    const late = sign(target, { session_token: own.token }, now() - 300_001);
    for (const { text, headers } of [wrong, late])
      expect((await post('logout', text, headers)).status).toBe(401);
    for (const more of [{}, { nonce: newNonce() }, { nonce: 'short' }]) {
      const { status } = await client.post(pathOf('logout'), { app_id, session_token: own.token, ...more });
      expect([400, 401]).toContain(status);
    }
    const both = { app_id, session_token: own.token, token: own.token };
    expect((await client.post(pathOf('logout'), both)).status).toBe(400);
    expect((await api.logout({ app_id, token: own.token })).status).toBe(401);
    const { text, headers } = sign(target, { token: own.token, nonce: newNonce() }, now());
    expect((await post('verify-session', text, headers)).status).toBe(200);
  });
});
