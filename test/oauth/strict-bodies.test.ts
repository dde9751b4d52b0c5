import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { REDIRECT_URI } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';

const { baseUrl } = await startTestService();
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const post = (path: string, type: string, body: string | Uint8Array, more: Record<string, string> = {}) =>
  fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': type, ...more },
    body: body as never,
  });
const bytes = (text: string) => Buffer.from(text, 'latin1');
const metadata = (member: string) => `{"redirect_uris":["${REDIRECT_URI}"],${member}}`;

const FORMS: readonly (readonly [string, string, string | Uint8Array, Record<string, string>, number])[] = [
  ['a parameter twice', FORM, 'grant_type=a&grant_type=a', {}, 400],
  ['a parameter twice in two spellings', FORM, 'token=a&%74oken=b', {}, 400],
  ['__proto__', FORM, '__proto__=a', {}, 400],
  ['broken percent-encoding', FORM, 'token=%ZZ', {}, 400],
  ['percent-encoded bytes that are not UTF-8', FORM, 'token=%ff', {}, 400],
  ['bytes that are not UTF-8', FORM, bytes('token=\xff'), {}, 400],
  ['a foreign charset', `${FORM}; charset=iso-8859-1`, 'token=a', {}, 415],
  ['a content encoding', FORM, gzipSync('token=a'), { 'content-encoding': 'gzip' }, 415],
  ['another media type', 'text/plain', 'token=a', {}, 415],
  ['too many fields', FORM, Array.from({ length: 101 }, (_, at) => `a${at}=b`).join('&'), {}, 400],
  ['too many bytes', FORM, `token=${'a'.repeat(60_000)}`, {}, 413],
];
const DOCUMENTS: typeof FORMS = [
  ['a member twice', JSON_TYPE, metadata('"client_name":"a","client_name":"b"'), {}, 400],
  ['__proto__', JSON_TYPE, metadata('"__proto__":{}'), {}, 400],
  ['a byte order mark', JSON_TYPE, `\ufeff${metadata('"client_name":"a"')}`, {}, 400],
  ['a lone surrogate', JSON_TYPE, metadata('"client_name":"\\ud800"'), {}, 400],
  ['bytes that are not UTF-8', JSON_TYPE, bytes(metadata('"client_name":"\xff"')), {}, 400],
  ['a foreign charset', `${JSON_TYPE}; charset=utf-16`, metadata('"client_name":"a"'), {}, 415],
  ['a content encoding', JSON_TYPE, gzipSync('{}'), { 'content-encoding': 'gzip' }, 415],
  ['a form', FORM, 'client_name=a', {}, 415],
  ['too many bytes', JSON_TYPE, metadata(`"client_name":"${'a'.repeat(60_000)}"`), {}, 413],
];

describe.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/device/authorize'])(
  '%s',
  (path) => {
    test.each(FORMS)('refuses %s', async (_what, type, body, headers, status) => {
      const response = await post(path, type, body, headers);
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toEqual({
        error: 'invalid_request',
        error_description: expect.any(String),
      });
    });
  },
);

test.each(DOCUMENTS)('/oauth/register refuses %s', async (_what, type, body, headers, status) => {
  const response = await post('/oauth/register', type, body, headers);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
});

test('valid bodies reach the authorization server', async () => {
  const registered = await post('/oauth/register', JSON_TYPE, metadata('"client_name":"é+%"'));
  expect(await registered.json()).toMatchObject({ client_name: 'é+%' });
  const both = `grant_type=client_credentials&resource=${baseUrl}&resource=${baseUrl}%2Fmcp&client_id=none`;
  expect(await (await post('/oauth/token', `${FORM}; charset=UTF-8`, both)).json()).toMatchObject({
    error: 'invalid_client',
  });
});

test.each(['/oauth/device', '/oauth/interaction/x', '/account/password', `/agent/claim/${'x'.repeat(43)}`])(
  'the forms of %s are parsed strictly, and refused with a page',
  async (path) => {
    for (const [what, type, body, headers] of FORMS) {
      const response = await post(path, type, body, headers);
      expect({ what, isRefused: response.status >= 400 && response.status < 500 }).toEqual({
        what,
        isRefused: true,
      });
      expect(response.headers.get('content-type')).toContain('text/html');
    }
  },
);

test.each(['/oauth/authorize', '/oauth/logout', '/oauth/device'])(
  'a query of %s with more parameters than any request has is refused with a page',
  async (path) => {
    const response = await fetch(`${baseUrl}${path}?${'a&'.repeat(101)}`);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(await response.text()).toContain('more than 100 parameters');
  },
);
