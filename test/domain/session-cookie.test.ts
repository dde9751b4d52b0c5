import { expect, test } from 'vitest';
import { createSessionCookie } from '../../src/access/browser-sessions/session-cookie.ts';

const VALUE = `lkb_${'x'.repeat(43)}`;
const OTHER = `lkb_${'y'.repeat(43)}`;
const NAME = '__Host-latchkey_session';
const cookie = createSessionCookie(() => 'https://latchkey.example');

test.each([
  `${NAME}=${VALUE}`,
  `a=b; ${NAME}=${VALUE}; c`,
  `a=b;${NAME}=${VALUE}`,
  `a=b;\t${NAME}=${VALUE};`,
])('the value is found: %j', (header) => expect(cookie.read(header)).toBe(VALUE));

// JavaScript trims more than the browser that decided whether the prefix is allowed: RFC 6265 has SP and HTAB only.
test.each(['\u00a0', '\u0085', '\u000b', '\u000c', '\u00c2\u00a0', '\u2003', '\ufeff', '\u3000'])(
  'white space around a name or a value is a part of it: %j',
  (space) => {
    expect(cookie.read(`${space}${NAME}=${VALUE}`)).toBeUndefined();
    expect(cookie.read(`a=b; ${space}${NAME}=${VALUE}`)).toBeUndefined();
    expect(cookie.read(`${NAME}${space}=${VALUE}`)).toBeUndefined();
    expect(cookie.read(`${NAME}=${VALUE}${space}`)).toBeUndefined();
    // It cannot make the real one a duplicate either.
    expect(cookie.read(`${space}${NAME}=${OTHER}; ${NAME}=${VALUE}`)).toBe(VALUE);
  },
);

test.each([undefined, '', ';', NAME, `${NAME}=`, `${NAME}=nonsense`, `${NAME.toLowerCase()}=${VALUE}`])(
  'no value: %j',
  (header) => {
    expect(cookie.read(header)).toBeUndefined();
    expect(cookie.readAll(header)).toEqual([]);
  },
);

test('two values count as none, also if one of them is no cookie of the service', () => {
  expect(cookie.read(`${NAME}=${VALUE}; ${NAME}=${OTHER}`)).toBeUndefined();
  expect(cookie.read(`${NAME}=${VALUE}; ${NAME}=nonsense`)).toBeUndefined();
  expect(cookie.readAll(`${NAME}=${VALUE}; ${NAME}=nonsense; ${NAME}=${OTHER}`)).toEqual([VALUE, OTHER]);
  expect(cookie.readAll(Array.from({ length: 100 }, () => `${NAME}=${VALUE}`).join(';'))).toHaveLength(4);
});
