import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ApiResponse } from '../support/api.ts';
import { newApp, newHwid, newNonce, newUser, signed, type App } from '../support/fixtures.ts';
import { boundRequestSignatureOf, boundSignatureOf, signatureOf } from '../support/response-signature.ts';
import { startTestService } from '../support/service.ts';
import { operations } from './operations.ts';

const { api, clock } = await startTestService();

const signable = operations.filter(({ signature }) => signature !== undefined);
const optional = signable.filter(({ signature }) => signature === 'optional');

/** A valid body for each operation, which can be sent repeatedly with new nonces and signatures. */
const bodies: Readonly<Record<string, (app: App) => Promise<Record<string, string>>>> = {
  async loginUserV2(app) {
    return { ...(await newUser(api, app)) };
  },
  async loginWithLicense(app) {
    const [license_key] = (await app.keys(1)) as [string];
    return { license_key, hwid: newHwid() };
  },
  async verifySessionV2(app) {
    return { token: (await api.login(app.with(await newUser(api, app)))).body.token };
  },
  async logoutUserV2(app) {
    return { session_token: (await api.login(app.with(await newUser(api, app)))).body.session_id };
  },
  async resetHwid(app) {
    const { username, password } = await newUser(api, app);
    return { username, password };
  },
};

/** Sends a request, signed by default. */
function send(
  path: string,
  app: App,
  body: object | string,
  headers: Record<string, string> | undefined = signed(app, body, { at: clock.now() })[1],
): Promise<ApiResponse<{ code?: string; signature?: string }>> {
  return api.post(path, typeof body === 'string' ? body : JSON.stringify(body), { headers });
}

const code = ({ body }: ApiResponse<{ code?: string }>) => body.code;

test('every operation with signatures is tested', () => {
  expect(Object.keys(bodies).sort()).toEqual(signable.map(({ operationId }) => operationId).sort());
});

describe.each(signable.map((operation) => [operation.operationId, operation] as const))(
  '%s',
  (operationId, { path }) => {
    const newBody = async (app: App) => ({
      app_id: app.app_id,
      ...(await bodies[operationId]!(app)),
      nonce: newNonce(),
    });

    test('is accepted if it is signed', async () => {
      const app = await newApp(api);
      expect((await send(path, app, await newBody(app))).status).toBe(200);
      await app.patch({ require_signatures: true });
      expect((await send(path, app, await newBody(app))).status).toBe(200);
    });

    test('is refused for a wrong signature, whether the application requires one or not', async () => {
      const app = await newApp(api);
      for (const require_signatures of [false, true]) {
        await app.patch({ require_signatures });
        const body = await newBody(app);
        const at = clock.now();
        const headers = signed(app, body, { at })[1];
        const foreign = signed({ secret: 'sk_another' }, body, { at })[1];
        expect(code(await send(path, app, body, foreign))).toBe('INVALID_APP_CREDENTIALS');
        expect(code(await send(path, app, { ...body, more: 1 }, headers))).toBe('INVALID_APP_CREDENTIALS');
        for (const name of ['x-signature', 'x-timestamp']) {
          expect(code(await send(path, app, body, { [name]: headers[name]! }))).toBe('SIGNATURE_REQUIRED');
          const { [name]: _replaced, ...rest } = headers;
          const empty = await send(path, app, body, { ...rest, [name]: '' });
          expect(empty.status).toBe(401);
        }
        const late = { ...headers, 'x-timestamp': String(at.getTime() - 300_001) };
        expect(code(await send(path, app, body, late))).toBe('TIMESTAMP_OUT_OF_RANGE');
        // The refused requests had no effect.
        expect((await send(path, app, body)).status).toBe(200);
      }
    });

    test('uses a nonce once', async () => {
      const app = await newApp(api);
      const body = await newBody(app);
      expect((await send(path, app, body)).status).toBe(200);
      expect(code(await send(path, app, body))).toBe('NONCE_REUSED');
      const other = { ...(await newBody(app)), nonce: body.nonce };
      expect(code(await send(path, app, other))).toBe('NONCE_REUSED');
    });

    test('refuses a nonce of 7 and of 129 characters', async () => {
      const app = await newApp(api);
      for (const nonce of ['n'.repeat(7), 'n'.repeat(129)]) {
        expect(code(await send(path, app, { ...(await newBody(app)), nonce }))).toBe('VALIDATION_FAILED');
      }
      for (const nonce of ['n'.repeat(8), 'n'.repeat(128)]) {
        expect((await send(path, app, { ...(await newBody(app)), nonce })).status).toBe(200);
      }
    });

    test('of a disabled or unknown application is refused', async () => {
      const app = await newApp(api);
      const body = await newBody(app);
      await app.patch({ status: 'disabled' });
      // Logouts are always possible.
      const response = await send(path, app, body);
      if (operationId === 'logoutUserV2') expect(response.status).toBe(200);
      else expect(code(response)).toBe('APPLICATION_INACTIVE');
      const absent = { ...body, app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c' };
      expect(code(await send(path, app, absent))).toBe('INVALID_APP_CREDENTIALS');
    });

    test.each([
      ['NUL', 'a\u0000b'],
      ['characters of two UTF-16 units', '🦊'.repeat(40)],
    ])('of an invalid app_id is refused: %s', async (_what, app_id) => {
      const app = await newApp(api);
      const body = { ...(await newBody(app)), app_id };
      for (const headers of [undefined, {}]) {
        const response = await send(path, app, body, headers);
        expect([400, 401]).toContain(response.status);
      }
    });

    test('with a malformed header is refused as the contract declares', async () => {
      const app = await newApp(api);
      const body = await newBody(app);
      const text = JSON.stringify(body);
      const signature = createHmac('sha256', app.secret).update(text).digest('hex');
      const timestamp = String(clock.now().getTime());
      for (const headers of [
        { 'x-signature': `${signature},${signature}`, 'x-timestamp': timestamp },
        { 'x-signature': `${signature}zz`, 'x-timestamp': timestamp },
        { 'x-signature': signature, 'x-timestamp': `${timestamp}, ${timestamp}` },
      ]) {
        const { status } = await send(path, app, text, headers);
        expect([400, 401]).toContain(status);
      }
      expect((await send(path, app, text)).status).toBe(200);
    });

    describe('in version 2', () => {
      const V2 = { 'x-signature-version': '2' };
      const sign = (app: App, body: object | string, operation: string = operationId) => {
        const at = String(clock.now().getTime());
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        const signature = boundRequestSignatureOf(app, { operation, body: text }, at);
        return { ...V2, 'x-signature': signature, 'x-timestamp': at };
      };

      test('is accepted, and its response is bound to operation and body', async () => {
        const app = await newApp(api);
        const body = await newBody(app);
        const text = JSON.stringify(body, null, 1);
        const response = await send(path, app, text, sign(app, text));
        expect(response.status).toBe(200);
        const bound = { operation: operationId, body: text };
        expect(response.body.signature).toBe(boundSignatureOf(app, bound, body.nonce, response.body));
        expect(response.body.signature).not.toBe(signatureOf(app, body.nonce, response.body));
        expect(response.headers.get('x-signature-version')).toBe('2');
        expect(code(await send(path, app, text, sign(app, text)))).toBe('NONCE_REUSED');
      });

      test('is not used for requests of version 1 or without a version', async () => {
        const app = await newApp(api);
        for (const version of [undefined, '1']) {
          const body = await newBody(app);
          const headers = {
            ...signed(app, body, { at: clock.now() })[1],
            ...(version !== undefined && { 'x-signature-version': version }),
          };
          const response = await send(path, app, body, headers);
          expect(response.body.signature).toBe(signatureOf(app, body.nonce, response.body));
          expect(response.headers.get('x-signature-version')).toBe('1');
        }
      });

      test('covers operation, time and body, unlike version 1', async () => {
        const app = await newApp(api);
        const body = await newBody(app);
        const right = sign(app, body);
        const later = String(clock.now().getTime() + 1);
        const of = (text: string) => createHmac('sha256', app.secret).update(text).digest('hex');
        const text = JSON.stringify(body);
        const digest = createHash('sha256').update(text).digest('hex');
        const at = right['x-timestamp'];
        const wrong: Record<string, Record<string, string>> = {
          'another operation': sign(app, body, 'verifySession'),
          'another time': { ...right, 'x-timestamp': later },
          'another body': sign(app, `${text} `),
          'another secret': sign({ ...app, secret: 'sk_another' }, body),
          'version 1': { ...signed(app, body, { at: clock.now() })[1], ...V2 },
          'the text of a response': {
            ...right,
            'x-signature': of(['latchkey-response-v2', operationId, at, digest].join('\n')),
          },
          'a line feed at the end': {
            ...right,
            'x-signature': of(['latchkey-request-v2', operationId, at, digest, ''].join('\n')),
          },
        };
        for (const [what, headers] of Object.entries(wrong))
          expect(code(await send(path, app, body, headers)), what).toBe('INVALID_APP_CREDENTIALS');
        const { 'x-signature-version': _, ...asVersion1 } = right;
        for (const headers of [asVersion1, { ...asVersion1, 'x-signature-version': '1' }])
          expect(code(await send(path, app, body, headers))).toBe('INVALID_APP_CREDENTIALS');
        expect((await send(path, app, body, right)).status).toBe(200);
      });

      test('needs a nonce', async () => {
        const app = await newApp(api);
        const { nonce: _, ...body } = await newBody(app);
        expect(code(await send(path, app, body, sign(app, body)))).toBe('VALIDATION_FAILED');
      });

      test.each(['', '0', '3', '02', '2.0', 'v2', '1, 2', '2, 2', 'x'.repeat(4_000)])(
        'refuses an unknown version: %s',
        async (version) => {
          const app = await newApp(api);
          const body = await newBody(app);
          for (const headers of [sign(app, body), {}]) {
            const response = await send(path, app, body, { ...headers, 'x-signature-version': version });
            expect([response.status, code(response)]).toEqual([400, 'SIGNATURE_VERSION_UNSUPPORTED']);
          }
          expect((await send(path, app, body)).status).toBe(200);
        },
      );
    });
  },
);

describe.each(optional.map((operation) => [operation.operationId, operation] as const))(
  '%s without a signature',
  (operationId, { path }) => {
    const newBody = async (app: App) => ({ app_id: app.app_id, ...(await bodies[operationId]!(app)) });

    test('is accepted until the application requires one', async () => {
      const app = await newApp(api);
      const before = await newBody(app);
      const after = await newBody(app);
      expect((await send(path, app, before, {})).status).toBe(200);
      await app.patch({ require_signatures: true });
      for (const nonce of [undefined, newNonce()]) {
        const refused = await send(path, app, { ...after, nonce }, {});
        expect(refused.status).toBe(401);
        expect(code(refused)).toBe('SIGNATURE_REQUIRED');
      }
      // The refusal had no effect.
      await app.patch({ require_signatures: false });
      expect((await send(path, app, after, {})).status).toBe(200);
    });

    test('gets version 2 while bind_responses is on, and the requested version while it is off', async () => {
      const app = await newApp(api);
      for (const bind_responses of [true, false]) {
        await app.patch({ bind_responses });
        for (const requested of [undefined, '1', '2']) {
          const nonce = newNonce();
          const body = JSON.stringify({ ...(await newBody(app)), nonce });
          const headers: Record<string, string> =
            requested === undefined ? {} : { 'x-signature-version': requested };
          const response = await send(path, app, body, headers);
          const version = bind_responses || requested === '2' ? '2' : '1';
          expect(response.headers.get('x-signature-version')).toBe(version);
          const bound = { operation: operationId, body };
          expect(response.body.signature).toBe(
            version === '2'
              ? boundSignatureOf(app, bound, nonce, response.body)
              : signatureOf(app, nonce, response.body),
          );
        }
      }
      const refused = await send(path, app, await newBody(app), { 'x-signature-version': '2' });
      expect(code(refused)).toBe('VALIDATION_FAILED');
    });

    test('spends no nonce, because it is not authenticated', async () => {
      const app = await newApp(api);
      const nonce = newNonce();
      expect((await send(path, app, { ...(await newBody(app)), nonce }, {})).status).toBe(200);
      expect((await send(path, app, { ...(await newBody(app)), nonce }, {})).status).toBe(200);
      expect((await send(path, app, { ...(await newBody(app)), nonce })).status).toBe(200);
    });
  },
);

test('operations without signatures ignore the headers', async () => {
  const app = await newApp(api);
  await app.patch({ require_signatures: true });
  const user = await newUser(api, app);
  const headers = { 'x-signature': '0'.repeat(64), 'x-timestamp': '1', 'x-signature-version': '9' };
  expect((await api.post('/api/v1/client/login', app.with(user), { headers })).status).toBe(200);
});
