import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isStrong, parseIssuerKeys } from '../../src/access/agents/issuer-keys.ts';

const jwk = (pair: { readonly publicKey: { export(options: { format: 'jwk' }): JsonWebKey } }) =>
  pair.publicKey.export({ format: 'jwk' });
const rsa = jwk(generateKeyPairSync('rsa', { modulusLength: 2048 }));
const p256 = jwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const ed25519 = jwk(generateKeyPairSync('ed25519'));
const bytes = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
const modulus = Buffer.from(rsa.n!, 'base64url');

describe('the key of an issuer is accepted', () => {
  test.each([
    ['RSA', rsa],
    ['RSA for signatures', { ...rsa, use: 'sig', alg: 'RS256', key_ops: ['verify'] }],
    ['P-256', p256],
    ['Ed25519', ed25519],
  ])('%s', (_name, key) => expect(isStrong(key as never)).toBe(true));
});

describe('the key of an issuer is refused', () => {
  test.each<[string, object]>([
    ['exponent 1', { ...rsa, e: 'AQ' }],
    ['exponent 1 with zeros before it', { ...rsa, e: 'AAAAAQ' }],
    ['exponent 0', { ...rsa, e: 'AA' }],
    ['exponent 2', { ...rsa, e: 'Ag' }],
    ['exponent 3', { ...rsa, e: 'Aw' }],
    ['an even exponent', { ...rsa, e: bytes('010002') }],
    ['a huge exponent', { ...rsa, e: rsa.n }],
    ['an empty exponent', { ...rsa, e: '' }],
    ['no exponent', { kty: 'RSA', n: rsa.n }],
    ['an exponent that is not text', { ...rsa, e: 65537 }],
    ['1,024 bits', jwk(generateKeyPairSync('rsa', { modulusLength: 1024 }))],
    ['2,047 bits', { ...rsa, n: bytes(`7f${modulus.subarray(1).toString('hex')}`) }],
    ['1,024 bits with zeros before them', { ...rsa, n: bytes('00'.repeat(128) + 'ff'.repeat(128)) }],
    ['an even modulus', { ...rsa, n: bytes(`${modulus.subarray(0, 255).toString('hex')}10`) }],
    ['16,384 bits', { ...rsa, n: bytes('ff'.repeat(2048)) }],
    ['a modulus of a megabyte', { ...rsa, n: 'A'.repeat(1_000_000) }],
    ['a modulus in base64', { ...rsa, n: modulus.toString('base64') }],
    ['for encryption', { ...rsa, use: 'enc' }],
    ['for wrapping keys', { ...rsa, key_ops: ['wrapKey'] }],
    ['operations that are not a list', { ...rsa, key_ops: 'verify' }],
    ['of an encryption algorithm', { ...rsa, alg: 'RSA-OAEP' }],
    ['of an HMAC', { ...rsa, alg: 'HS256' }],
    [
      'a private key',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
    ],
    ['a shared secret', { kty: 'oct', k: 'c2VjcmV0' }],
    ['P-192', { ...p256, crv: 'P-192' }],
    ['secp256k1', { ...p256, crv: 'secp256k1' }],
    ['Ed448', jwk(generateKeyPairSync('ed448'))],
    ['X25519', jwk(generateKeyPairSync('x25519'))],
    ['an unknown kind', { kty: 'none' }],
    ['no kind', {}],
  ])('%s', (_name, key) => expect(isStrong(key as never)).toBe(false));
});

test.each([undefined, null, 7, 'keys', [], {}, { keys: {} }, { keys: 'x' }])(
  '%j is not a key set',
  (document) => expect(() => parseIssuerKeys(document)).toThrow(),
);

test('invalid keys do not affect the others', () => {
  const keys = parseIssuerKeys({ keys: [null, 'x', 7, [], { ...p256, kid: 'a' }] });
  expect([keys.has('a'), keys.has('b')]).toEqual([true, false]);
});
