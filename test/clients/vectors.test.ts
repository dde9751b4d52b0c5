import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { describe, expect, test } from 'vitest';
import { CLIENTS, run, VECTORS } from './support/clients.ts';

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly timestamp: string;
  readonly body: string;
  readonly body_hex: string;
  readonly x_signature: string;
  readonly nonce: string;
  readonly result: Record<string, unknown>;
  readonly jcs: string;
  readonly signature: string;
}

const { vectors } = JSON.parse(await readFile(VECTORS, 'utf8')) as { vectors: readonly Vector[] };
const hmac = (secret: string, data: string | Buffer) =>
  createHmac('sha256', Buffer.from(secret, 'utf8')).update(data).digest('hex');

describe.each(vectors)('$name', (vector) => {
  test('the request', () => {
    const bytes = Buffer.from(vector.body_hex, 'hex');
    expect(bytes).toEqual(Buffer.from(vector.body, 'utf8'));
    expect(hmac(vector.secret, bytes)).toBe(vector.x_signature);
    expect(vector.timestamp).toMatch(/^\d{13}$/);
    expect(JSON.parse(vector.body)).toMatchObject({ app_id: expect.any(String), nonce: vector.nonce });
    expect(vector.nonce.length).toBeGreaterThanOrEqual(8);
    expect(vector.nonce.length).toBeLessThanOrEqual(128);
  });

  test('the answer', () => {
    expect(vector.result).not.toHaveProperty('signature');
    expect(canonicalize(vector.result)).toBe(vector.jcs);
    expect(hmac(vector.secret, `${vector.nonce}.${vector.jcs}`)).toBe(vector.signature);
  });
});

test('no two vectors are alike', () => {
  for (const member of ['name', 'x_signature', 'nonce', 'signature'] as const) {
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
        `x-signature: ${login!.x_signature}`,
        `x-timestamp: ${login!.timestamp}`,
        '',
        `${login!.body}\n`,
      ].join('\n'),
    ]);
  });

  test('shows the answer of the first vector, signed', () => {
    expect(JSON.parse(blocks('json')[0]!)).toEqual({ ...login!.result, signature: login!.signature });
    expect(readme).toContain(`This prints \`${login!.signature}\`.`);
  });

  test('computes both signatures in a shell', async (context) => {
    if ((await run('openssl', ['version'])).code !== 0) context.skip('this machine lacks openssl');
    const [request, answer] = blocks('sh');
    const values = { SECRET: login!.secret, BODY: login!.body, NONCE: login!.nonce, JCS: login!.jcs };
    const assigned = [...`${request}${answer}`.matchAll(/^([A-Z]+)='?(.*?)'?$/gm)];
    expect(Object.fromEntries(assigned.map((match) => [match[1], match[2]]))).toEqual(values);
    expect(await run('sh', ['-euc', `${request}${answer}`])).toEqual({
      code: 0,
      stdout: `${login!.x_signature}\n${login!.signature}\n`,
      stderr: '',
    });
  });
});
