import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/processes.ts';
import { signatureOf } from '../support/response-signature.ts';
import { clients, VECTORS, type Program } from './support/clients.ts';
import { APP, SESSION, signed, startStandIn, type StandInResponse, type Call } from './support/stand-in.ts';

type Body = Record<string, unknown>;
interface Vector extends Body {
  readonly name: string;
  readonly result: Body;
}

interface Vectors {
  readonly vectors: Vector[];
  readonly grace: { readonly steps: { may_run: boolean; wait?: number }[] }[];
}

const USER = ['Zoë 😀', 'p"ä\\s\nswörd', 'a-machine'] as const;
const DAY = 86_400_000;

/** Forged responses, and how a client reports them. */
const FORGERIES: Record<string, (body: Body, call: Call) => Body | string> = {
  'without a signature': ({ signature: _, ...result }) => result,
  'with an empty signature': (body) => ({ ...body, signature: '' }),
  'with null for a signature': (body) => ({ ...body, signature: null }),
  'with a truncated signature': (body) => ({ ...body, signature: String(body['signature']).slice(0, 32) }),
  'with the signature of another secret': ({ signature: _, ...result }, call) =>
    signed(result, call, { secret: 'sk_another' }),
  'with the signature for another nonce': ({ signature: _, ...result }, call) =>
    signed(result, call, { nonce: '00000000000000000000000000000000' }),
  'with the signature for an empty nonce': ({ signature: _, ...result }, call) =>
    signed(result, call, { nonce: '' }),
  'with the signature of version 1': ({ signature: _, ...result }, { body }) => ({
    ...result,
    signature: signatureOf(APP, String(body['nonce']), result),
  }),
  'with the signature of another operation': ({ signature: _, ...result }, call) =>
    signed(result, { ...call, operation: 'login-license' }),
  'with the signature for another body': ({ signature: _, ...result }, call) =>
    signed(result, { ...call, text: `${call.text} ` }),
  'with a member changed': (body) => ({ ...body, status: 'Success' }),
  'with a member added': (body) => ({ ...body, subscription_tier: 'VIP' }),
  'with a duplicate member': (body) => JSON.stringify(body).replace(/}$/, ',"token":"forged"}'),
  'with a number where null was signed': ({ signature: _, ...result }, call) =>
    JSON.stringify(signed({ ...result, limit: null }, call)).replace('null', '1e999'),
};

describe.each(clients)('$name', ({ missing, build }) => {
  if (missing !== undefined) {
    test.skip(`not tried: this machine lacks ${missing}`, () => {});
    return;
  }

  let program: Program;
  beforeAll(async () => void (program = await build()), 180_000);
  const client = (...args: string[]) => program.runQuickly(args);
  const demoArgs = (baseUrl: string) => ['demo', baseUrl, APP.app_id, APP.secret, ...USER];
  const demo = (baseUrl: string) => client(...demoArgs(baseUrl));

  describe('test vectors', () => {
    /** The result of the test vectors after a change of the last one. */
    async function withLastVector(change: (vector: Vector) => Body) {
      const { vectors, grace } = JSON.parse(await readFile(VECTORS, 'utf8')) as Vectors;
      const file = join(await temporaryFolder(), 'vectors.json');
      const changed = [...vectors.slice(0, -1), change(vectors.at(-1)!)];
      await writeFile(file, JSON.stringify({ vectors: changed, grace }));
      return client('vectors', file);
    }

    test('all pass', async () => {
      const { vectors } = JSON.parse(await readFile(VECTORS, 'utf8')) as { vectors: Vector[] };
      expect(await program.run(['vectors', VECTORS])).toEqual({
        code: 0,
        stdout: expect.stringMatching(`^${vectors.length} vectors agree\\r?\\n$`),
        stderr: '',
      });
    });

    test.each([
      ['secret', ({ secret }: Vector) => ({ secret: `${secret}x` })],
      ['body', ({ body }: Vector) => ({ body: `${body} ` })],
      ['body_hex', ({ body_hex }: Vector) => ({ body_hex: `${body_hex}20` })],
      ['operation', ({ operation }: Vector) => ({ operation: `${operation}x` })],
      ['timestamp', ({ timestamp }: Vector) => ({ timestamp: `${timestamp}0` })],
      ['x_signature_v2', ({ x_signature_v2 }: Vector) => ({ x_signature_v2: flip(x_signature_v2) })],
      ['nonce', ({ nonce }: Vector) => ({ nonce: `${nonce}0` })],
      ['result', ({ result }: Vector) => ({ result: { ...result, valid: false } })],
      ['jcs', ({ jcs }: Vector) => ({ jcs: ` ${jcs}` })],
      ['signature_v2', ({ signature_v2 }: Vector) => ({ signature_v2: flip(signature_v2) })],
    ])('a changed %s fails, even in the last vector', async (_, change) => {
      const outcome = await withLastVector((vector) => ({ ...vector, ...change(vector) }));
      expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/\S/) });
    });

    test.each(['may_run', 'wait'])('a changed %s of the grace period fails', async (member) => {
      const { vectors, grace } = JSON.parse(await readFile(VECTORS, 'utf8')) as Vectors;
      const step = grace[1]!.steps[1]!;
      if (member === 'may_run') step.may_run = !step.may_run;
      else step.wait! += 1;
      const file = join(await temporaryFolder(), 'vectors.json');
      await writeFile(file, JSON.stringify({ vectors, grace }));
      expect(await client('vectors', file)).toMatchObject({ code: 1, stdout: '' });
    });

    test('an empty list of vectors fails', async () => {
      const file = join(await temporaryFolder(), 'vectors.json');
      await writeFile(file, '{"vectors":[]}');
      expect(await program.run(['vectors', file])).toMatchObject({ code: 1, stdout: '' });
    });
  });

  describe('against a stub server', () => {
    test('logs in, verifies, logs out, and is refused afterwards', async () => {
      const { baseUrl, calls } = await startStandIn();
      const { code, stdout, stderr } = await program.run(demoArgs(`${baseUrl}/`));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.trim().split(/\r?\n/)).toEqual([
        'login: a session until 2026-11-22T10:00:00.000Z',
        'verify-session: usr_1 is logged in',
        'logout: done',
        'verify-session: refused, SESSION_INVALID',
      ]);

      const nonce = expect.stringMatching(/^[0-9a-f]{32}$/);
      const [username, password, hwid] = USER;
      const verification = { app_id: APP.app_id, token: SESSION, hwid, nonce };
      expect(calls.map(({ operation, body }) => [operation, body])).toEqual([
        ['login', { app_id: APP.app_id, username, password, hwid, nonce }],
        ['verify-session', verification],
        ['logout', { app_id: APP.app_id, session_token: SESSION, nonce }],
        ['verify-session', verification],
      ]);
      expect(calls.every((call) => call.signed)).toBe(true);
      expect(new Set(calls.map(({ body }) => body['nonce'])).size).toBe(4);
      expect(calls.every(({ timestamp }) => Math.abs(timestamp - Date.now()) < DAY)).toBe(true);
    });

    test('logs in with a license key', async () => {
      const { baseUrl, calls } = await startStandIn();
      const key = '7KQ2M-X9WBD-4HT0V-ZR8JN-C35PA';
      const outcome = await client('demo-license', baseUrl, APP.app_id, APP.secret, key, 'a-machine');
      expect(outcome).toMatchObject({ code: 0, stderr: '' });
      const { operation, body, signed } = calls[0]!;
      expect({ operation, body, signed }).toEqual({
        operation: 'login-license',
        body: { app_id: APP.app_id, license_key: key, hwid: 'a-machine', nonce: expect.any(String) },
        signed: true,
      });
    });

    test.each(Object.entries(FORGERIES))('rejects a login response %s', async (_, forge) => {
      const { baseUrl, calls } = await startStandIn(forging('login', forge));
      expect(await demo(baseUrl)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^RESPONSE_SIGNATURE_INVALID: /),
      });
      expect(calls).toHaveLength(1);
    });

    test.each(['verify-session', 'logout'])('rejects an unsigned response of %s', async (operation) => {
      const { baseUrl } = await startStandIn(forging(operation, FORGERIES['without a signature']!));
      expect((await demo(baseUrl)).stderr).toMatch(/^RESPONSE_SIGNATURE_INVALID: /);
    });

    test('rejects a verification from another time', async () => {
      let first: Body | undefined;
      const { baseUrl } = await startStandIn((response, { operation }) => {
        if (operation !== 'verify-session') return response;
        return { status: 200, body: (first ??= response.body as Body) };
      });
      const { code, stdout, stderr } = await demo(baseUrl);
      expect(stdout).toContain('logout: done');
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^RESPONSE_SIGNATURE_INVALID: /),
      });
    });

    test.each([
      ['false', { valid: false }],
      ['a string', { valid: 'true' }],
      ['absent', {}],
    ])('rejects a verification in which valid is %s', async (_, valid) => {
      const { baseUrl } = await startStandIn(
        forging('verify-session', (_body, call) =>
          signed({ status: 'success', user_id: 'usr_1', ...valid }, call),
        ),
      );
      expect((await demo(baseUrl)).stderr).toMatch(/^SESSION_INVALID: /);
    });

    test.each([
      ['markup', 502, '<html>Bad gateway</html>'],
      ['nothing', 503, ''],
      ['a problem without a code', 500, '{"title":"Oops"}'],
      ['an array', 200, '[]'],
      ['a truncated object', 200, '{"status":"success"'],
      ['two objects', 200, '{}{}'],
      ['NaN', 200, '{"status":NaN}'],
      ['50,000 levels', 200, `{"status":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ])('rejects %s as a response', async (_, status, body) => {
      const { baseUrl } = await startStandIn(() => ({ status, body }));
      const { code, stderr } = await demo(baseUrl);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^(UNEXPECTED_ANSWER|RESPONSE_SIGNATURE_INVALID): /),
      });
    });

    test('does not follow redirects', async () => {
      const elsewhere = await startStandIn();
      const location = `${elsewhere.baseUrl}/api/v2/client/login`;
      const { baseUrl } = await startStandIn(() => ({ status: 307, body: '', headers: { location } }));
      expect(await demo(baseUrl)).toMatchObject({ code: 1, stdout: '' });
      expect(elsewhere.calls).toEqual([]);
    });

    test("reports the service's code", async () => {
      const problem = { code: 'HWID_MISMATCH', detail: 'Another machine: “Zoë 😀”.' };
      const { baseUrl } = await startStandIn(() => ({ status: 403, body: problem }));
      const { code, stderr } = await program.run(demoArgs(baseUrl));
      expect({ code, stderr: stderr.trim() }).toEqual({
        code: 1,
        stderr: 'HWID_MISMATCH: Another machine: “Zoë 😀”.',
      });
    });

    test.each([
      ['behind', 400 * DAY],
      ['ahead', -400 * DAY],
    ])("corrects a machine's clock that is %s, and stays correct", async (_, difference) => {
      const { baseUrl, calls } = await startStandIn(outOfTime(() => Date.now() + difference));
      expect(await demo(baseUrl)).toMatchObject({ code: 0, stderr: '' });
      expect(calls.map(({ operation }) => operation)).toEqual([
        ...['login', 'login', 'verify-session', 'logout', 'verify-session'],
      ]);
      expect(new Set(calls.map(({ body }) => body['nonce'])).size).toBe(5);
    });

    test('corrects its clock once a call', async () => {
      const { baseUrl, calls } = await startStandIn(
        outOfTime(() => Date.parse('2000-02-29T12:00:00.000Z'), 0),
      );
      expect((await demo(baseUrl)).stderr).toMatch(/^TIMESTAMP_OUT_OF_RANGE: /);
      expect(calls).toHaveLength(2);
      // Time passes on the client's clock between the correction and the signature.
      expect(Math.abs(calls[1]!.timestamp - Date.parse('2000-02-29T12:00:00.000Z'))).toBeLessThan(DAY / 24);
    });

    describe('guarded', () => {
      const guardArgs = (baseUrl: string, checks: number) => [
        ...['guard', baseUrl, APP.app_id, APP.secret, SESSION, 'a-machine', String(checks)],
      ];
      const guard = (baseUrl: string, checks: number) => client(...guardArgs(baseUrl, checks));
      const started = /^started: next check in (3|4|5|6|7|8|9)\d\d s\r?\n/;
      /** A service that is replaced with another one from its second call. */
      const later =
        (response: StandInResponse) => (right: StandInResponse, _call: Call, calls: readonly Call[]) =>
          calls.length > 1 ? response : right;
      const YEARS_31 = { 'retry-after': '977616000' };

      test('starts and continues while the session is valid', async () => {
        const { baseUrl } = await startStandIn();
        const { code, stdout } = await program.run(guardArgs(baseUrl, 1));
        expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(started) });
        expect(stdout).toContain('continues');
      });

      test('does not start while the network is blocked, regardless of its token', async () => {
        const outcome = await guard('http://127.0.0.1:1', 3);
        expect(outcome).toMatchObject({
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(/^UNREACHABLE: /),
        });
      });

      test.each([429, 503, 500])('does not start on a %i, regardless of its Retry-After', async (status) => {
        const problem = { code: 'SERVICE_UNAVAILABLE', detail: 'Later.' };
        const { baseUrl } = await startStandIn(() => ({ status, body: problem, headers: YEARS_31 }));
        expect(await guard(baseUrl, 3)).toMatchObject({ code: 1, stdout: '' });
      });

      test('does not start with an emulator that does not have the secret', async () => {
        const body = { status: 'success', valid: true, user_id: 'usr_1', signature: '0'.repeat(64) };
        const { baseUrl } = await startStandIn(() => ({ status: 200, body }));
        expect(await guard(baseUrl, 3)).toMatchObject({ code: 1, stdout: '' });
      });

      test('once started, waits 300 seconds for a Retry-After of 31 years', async () => {
        const { baseUrl } = await startStandIn(later({ status: 503, body: '', headers: YEARS_31 }));
        const { code, stdout } = await guard(baseUrl, 1);
        expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(started) });
        expect(stdout).toMatch(/continues: next check in 300 s/);
      });

      test.each([
        ['a refusal', 401, '{"code":"SESSION_INVALID"}'],
        ['an unsigned response', 200, '{"status":"success","valid":true,"user_id":"usr_1"}'],
      ])('ends on %s', async (_, status, body) => {
        const { baseUrl, calls } = await startStandIn(later({ status, body }));
        expect(await guard(baseUrl, 5)).toMatchObject({ code: 1, stdout: expect.stringMatching(started) });
        expect(calls).toHaveLength(2);
      });
    });

    test('fails when no server listens', async () => {
      expect(await program.run(demoArgs('http://127.0.0.1:1'))).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/\S/),
      });
    });
  });
});

/** Replaces the last hexadecimal digit. */
function flip(hex: unknown): string {
  const text = String(hex);
  return text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
}

/** Forges the responses of one operation. */
function forging(wanted: string, forge: (body: Body, call: Call) => Body | string) {
  return (response: StandInResponse, call: Call): StandInResponse =>
    call.operation === wanted ? { ...response, body: forge(response.body as Body, call) } : response;
}

/** A service whose clock refuses timestamps. @param skew the accepted difference in milliseconds */
function outOfTime(now: () => number, skew = 300_000) {
  return (response: StandInResponse, { timestamp }: Call): StandInResponse => {
    const present = now();
    if (Math.abs(timestamp - present) < skew) return response;
    const problem = {
      code: 'TIMESTAMP_OUT_OF_RANGE',
      detail: 'The x-timestamp differs from the server time by more than 300 seconds.',
    };
    return { status: 401, body: { ...problem, server_time: new Date(present).toISOString() } };
  };
}
