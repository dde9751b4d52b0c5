import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { describe, expect, test } from 'vitest';
import { boundRequestSignatureOf } from '../support/response-signature.ts';
import { run } from '../support/programs.ts';
import { CLIENTS, VECTORS } from './support/clients.ts';

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly operation: string;
  readonly timestamp: string;
  readonly body: string;
  readonly body_hex: string;
  readonly x_signature: string;
  readonly x_signature_v2: string;
  readonly nonce: string;
  readonly result: Record<string, unknown>;
  readonly jcs: string;
  readonly signature: string;
  readonly signature_v2: string;
}

const { vectors } = JSON.parse(await readFile(VECTORS, 'utf8')) as { vectors: readonly Vector[] };
const hmac = (secret: string, data: string | Buffer) =>
  createHmac('sha256', Buffer.from(secret, 'utf8')).update(data).digest('hex');

describe.each(vectors)('$name', (vector) => {
  test('the request', () => {
    const bytes = Buffer.from(vector.body_hex, 'hex');
    expect(bytes).toEqual(Buffer.from(vector.body, 'utf8'));
    expect(hmac(vector.secret, bytes)).toBe(vector.x_signature);
    const { operation, timestamp } = vector;
    const bound = boundRequestSignatureOf(vector, { operation, body: bytes }, timestamp);
    expect(bound).toBe(vector.x_signature_v2);
    expect(vector.timestamp).toMatch(/^\d{13}$/);
    expect(JSON.parse(vector.body)).toMatchObject({ app_id: expect.any(String), nonce: vector.nonce });
    expect(vector.nonce.length).toBeGreaterThanOrEqual(8);
    expect(vector.nonce.length).toBeLessThanOrEqual(128);
  });

  test('the response', () => {
    expect(vector.result).not.toHaveProperty('signature');
    expect(canonicalize(vector.result)).toBe(vector.jcs);
    expect(hmac(vector.secret, `${vector.nonce}.${vector.jcs}`)).toBe(vector.signature);
    const digest = createHash('sha256').update(vector.body).digest('hex');
    const lines = ['latchkey-response-v2', vector.operation, digest, vector.nonce, vector.jcs];
    expect(hmac(vector.secret, lines.join('\n'))).toBe(vector.signature_v2);
  });
});

test('all vectors differ', () => {
  for (const member of [
    'name',
    'x_signature',
    'x_signature_v2',
    'nonce',
    'signature',
    'signature_v2',
  ] as const) {
    expect(new Set(vectors.map((vector) => vector[member])).size).toBe(vectors.length);
  }
});

describe('README', async () => {
  const readme = await readFile(join(CLIENTS, 'README.md'), 'utf8');
  const [login] = vectors;
  const blocks = (language: string) =>
    [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map((match) => match[1]!);

  test('shows the request of the first vector', () => {
    expect(blocks('http')).toEqual([
      [
        'POST /api/v2/client/login HTTP/1.1',
        'Content-Type: application/json',
        'x-signature-version: 2',
        `x-signature: ${login!.x_signature_v2}`,
        `x-timestamp: ${login!.timestamp}`,
        '',
        `${login!.body}\n`,
      ].join('\n'),
    ]);
  });

  test('shows the response of the first vector, signed', () => {
    expect(JSON.parse(blocks('json')[0]!)).toEqual({ ...login!.result, signature: login!.signature_v2 });
    expect(readme).toContain(`This prints \`${login!.signature_v2}\`.`);
  });

  test('computes both signatures in a shell', async (context) => {
    if ((await run('openssl', ['version'])).code !== 0) context.skip('this machine lacks openssl');
    const [request, response] = blocks('sh');
    const values = {
      SECRET: login!.secret,
      TIMESTAMP: login!.timestamp,
      BODY: login!.body,
      NONCE: login!.nonce,
      JCS: login!.jcs,
    };
    const assigned = [...`${request}${response}`.matchAll(/^([A-Z]+)=(?!\$)'?(.*?)'?$/gm)];
    expect(Object.fromEntries(assigned.map((match) => [match[1], match[2]]))).toEqual(values);
    expect(await run('sh', ['-euc', `${request}${response}`])).toEqual({
      code: 0,
      stdout: `${login!.x_signature_v2}\n${login!.signature_v2}\n`,
      stderr: '',
    });
  });
});
