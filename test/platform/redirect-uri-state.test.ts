import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placeOf, policySource, redirectUriFault } from '../../src/platform/redirect-uri-state.ts';

describe('a redirect URI that is accepted, and its source in a policy', () => {
  test.each([
    ['https://client.example/callback?a=b&c=%20', 'https://client.example'],
    ['https://client.example:8443/', 'https://client.example:8443'],
    ['https://CLIENT.example', 'https://client.example'],
    ['HTTPS://client.example:443/', 'https://client.example'],
    ['http://localhost:/', 'http://localhost'],
    ['http://127.0.0.1:80?a', 'http://127.0.0.1'],
    ['http://[0:0:0:0:0:0:0:1]:1234/', 'http:'],
    ['http://127.0.0.1:1234/callback', 'http://127.0.0.1:1234'],
    ['http://localhost/callback', 'http://localhost'],
    ['http://[::1]:1234/', 'http:'],
    ['com.example.app:/callback', 'com.example.app:'],
    ['com.example.app://callback', 'com.example.app:'],
  ])('%s', (uri, source) => {
    expect(redirectUriFault(uri)).toBeUndefined();
    expect(policySource(uri)).toBe(source);
    expect(policySource(`${uri}#error=${'x'.repeat(3000)}`)).toBe(source);
  });
});

describe('a redirect URI that is refused', () => {
  test.each([
    'https://a;script-src/cb',
    'https://a%3Bscript-src/cb',
    'https://*/cb',
    'https://*.example/cb',
    'https://a,b/cb',
    "https://a'/cb",
    'https://user@client.example/',
    'https://user:password@client.example/',
    'https://client.example/#fragment',
    'https://client.example#',
    'https://client.example/a b',
    'https://client.example/<script>',
    'https://client.example/"onload',
    'https://client.example\\@elsewhere.example/',
    'https://bücher.example/',
    'https:///',
    // A browser resolves these differently on different pages.
    'https:client.example/cb',
    'https:/client.example/cb',
    'https:///client.example/cb',
    'http:localhost/cb',
    // Hosts that a parser rewrites.
    'http://127.1/',
    'http://0x7f.1/',
    'https://1/',
    'https://%63lient.example/',
    'https://@client.example/',
    'http://client.example/',
    'http://localhost.example/',
    'ms-msdt:/id',
    'intent://scan/',
    'view-source:https://client.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://client.example/x',
    'about:blank',
    'mailto:a@example.com',
    'search-ms:query=x',
    'myapp:/callback',
    '.app:/callback',
    'com.:/callback',
    'com..app:/callback',
    '/callback',
    'client.example/callback',
    '',
    `https://client.example/${'x'.repeat(2048)}`,
    7,
    null,
    undefined,
    ['https://client.example/'],
  ])('%j', (uri) => {
    expect(redirectUriFault(uri)).toEqual(expect.any(String));
    if (typeof uri === 'string' && !/#|x{2048}/.test(uri)) expect(policySource(uri)).toBeUndefined();
  });
});

test('a hostile URI becomes at most one source of a policy', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(..."abz0.-_*;,:'/?@[]% \t\n#\\é%3B%20".split('')),
    maxLength: 30,
  });
  const scheme = fc.constantFrom('https://', 'http://', 'com.example.app:', 'a;b.c:', '');
  fc.assert(
    fc.property(scheme, hostile, (start, text) => {
      const source = policySource(`${start}${text}`);
      if (source !== undefined)
        expect(source).toMatch(/^(https?:\/\/[a-z0-9._-]+(:\d+)?|[a-z][a-z0-9.+-]*:)$/);
    }),
    { seed: 20_261_122, numRuns: 3_000 },
  );
});

test('a destination is named by its host or scheme', () => {
  expect(placeOf('https://client.example:8443/a')).toBe('client.example:8443');
  expect(placeOf('http://127.0.0.1:1/a')).toBe('a program on this machine');
  expect(placeOf('com.evil.app://bank.example/')).toBe('a program on this machine (com.evil.app:)');
  expect(placeOf('nothing')).toBeUndefined();
});
