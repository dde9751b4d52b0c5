import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectRefusal, sendRaw } from '../support/raw.ts';

const { api } = await startTestService();
const app = await newApp(api);
const path = '/api/v1/client/init';
const credentials = `"app_id":${JSON.stringify(app.app_id)},"secret":${JSON.stringify(app.secret)}`;

/** A valid request with an additional member, which the contract ignores. */
const around = (value: string | Buffer) =>
  Buffer.concat([Buffer.from(`{${credentials},"x":`), Buffer.from(value), Buffer.from('}')]);

async function codeOf(body: string | Uint8Array): Promise<string> {
  const started = performance.now();
  const { status, body: text } = await api.post(path, body);
  expect(performance.now() - started).toBeLessThan(5_000);
  return status === 200 ? 'accepted' : `${status} ${String(text['code'])}`;
}

/** From JSONTestSuite (Nicolas Seriot): what every parser must accept. */
const ACCEPTED: readonly string[] = [
  '[[]   ]',
  '[""]',
  '[]',
  '["a"]',
  '[false]',
  '[null, 1, "1", {}]',
  '[null]',
  '[1\n]',
  ' [1]',
  '[1,null,null,null,2]',
  '[2] ',
  '[123e65]',
  '[0e+1]',
  '[0e1]',
  '[ 4]',
  '[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]',
  '[20e1]',
  '[-0]',
  '[-123]',
  '[-1]',
  '[1E22]',
  '[1E-2]',
  '[1E+2]',
  '[123e45]',
  '[123.456e78]',
  '[1e-2]',
  '[1e+2]',
  '[123.456789]',
  '[1e400]',
  '[123123e100000]',
  '[-123123123123123123123123123123]',
  '{"asd":"sdf", "dfg":"fgh"}',
  '{}',
  '{"":0}',
  '{"foo\\u0000bar": 42}',
  '{ "min": -1.0e+28, "max": 1.0e+28 }',
  '{"a":[]}',
  '{\n"a": "b"\n}',
  '["\\u0060\\u012a\\u12AB"]',
  '["\\ud801\\udc37"]',
  '["\\ud83d\\ude39\\ud83d\\udc8d"]',
  '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
  '["\\\\u0000"]',
  '["\\""]',
  '["a/*b*/c/*d//e"]',
  '["\\\\a"]',
  '["\\\\n"]',
  '["\\u0012"]',
  '["\\uFFFF"]',
  '["\\uFDD0"]',
  '["\\uDBFF\\uDFFF"]',
  '["\\u0000"]',
  '["π"]',
  '["\u{1bfff}"]',
  '["asd "]',
  '" "',
  '["\u2028\u2029"]',
  '["€𝄞"]',
  '["\u007f"]',
  '["\\u200B\\u2064\\uFDD0\\uFFFE"]',
  '42',
  'true',
  'null',
  '"asd"',
  '-0.1',
  '"a:b\\":"',
  '{"a\\":":1,"a":2}',
  '[{"a":1},{"a":1}]',
  '{"a":{"a":{"a":"a"}}}',
  '{"A":1,"a":2}',
  '{"é":1,"e\u0301":2}',
  '{"proto":1,"_proto_":2,"__proto":3,"__PROTO__":4}',
  '"\\"a\\":1,\\"a\\":2"',
  '["a" , "b"\t:1]'.replace('\t:1', ''),
];

/** From JSONTestSuite: what no parser may accept. */
const REFUSED: readonly (string | Buffer)[] = [
  '[1 true]',
  '["": 1]',
  '[""],',
  '[,1]',
  '[1,,2]',
  '["x",,]',
  '["x"]]',
  '["",]',
  '["x"',
  '[x',
  '[3[4]]',
  '[:1]',
  '[,]',
  '[-]',
  '[   , ""]',
  '["a",\n4\n,1,',
  '[1,]',
  '["\va"\\f]',
  '[*]',
  '[""',
  '[1,',
  '[{}',
  '[fals]',
  '[nul]',
  '[tru]',
  '[++1234]',
  '[+1]',
  '[+Inf]',
  '[-01]',
  '[-1.0.]',
  '[-2.]',
  '[-NaN]',
  '[.-1]',
  '[.2e-3]',
  '[0.1.2]',
  '[0.3e+]',
  '[0.3e]',
  '[0.e1]',
  '[0e]',
  '[0e+]',
  '[1.0e+]',
  '[1.0e-]',
  '[1 000.0]',
  '[1eE2]',
  '[2.e+3]',
  '[9.e+]',
  '[Inf]',
  '[NaN]',
  '[Infinity]',
  '[-Infinity]',
  '[1+2]',
  '[0x1]',
  '[0x42]',
  '[0b1]',
  '[1_000]',
  '[1n]',
  '[- 1]',
  '[-012]',
  '[-.123]',
  '[-1x]',
  '[1ea]',
  '[1.]',
  '[.123]',
  '[1.2a-3]',
  '[012]',
  '[\uff11]',
  '["x", truth]',
  '{[: "x"}',
  '{"x", null}',
  '{"x"::"b"}',
  '{🇨🇭}',
  '{"a":"a" 123}',
  "{key: 'value'}",
  '{"a" b}',
  '{:"b"}',
  '{"a":',
  '{"a"',
  '{1:1}',
  '{9999E9999:1}',
  '{null:null,null:null}',
  '{"id":0,,,,,}',
  "{'a':0}",
  '{"id":0,}',
  '{"a":"b"}/**/',
  '{"a":"b"}/**//',
  '{"a":"b"}//',
  '{"a":"b",,"c":"d"}',
  '{a: "b"}',
  '{"a":"a',
  '{"a": truue}',
  '["\\uD800\\"]',
  '["\\uD800\\u"]',
  '["\\uD800\\u1"]',
  '["\\uD800\\u1x"]',
  '[é]',
  '["\\\u0000"]',
  '["\\x00"]',
  '["\\\\\\"]',
  '["\\\t"]',
  '["\\🌀"]',
  '["\\"]',
  '["\\u00A"]',
  '["\\uD834\\uDd"]',
  '["\\a"]',
  '["\\uqqqq"]',
  '[\\u0020"asd"]',
  '[\\n]',
  '"',
  "['single quote']",
  'abc',
  '["new\nline"]',
  '["a\u0000a"]',
  '["\t"]',
  '["\u001f"]',
  '"\\UA66D"',
  '<.>',
  '[<null>]',
  '[1]x',
  '[1]]',
  '["asd]',
  'aå',
  '[True]',
  '1]',
  '{"x": true,',
  '[][]',
  ']',
  '\ufeff[]',
  '2@',
  '{}}',
  '{"":',
  '{"a":/*comment*/"b"}',
  '{"a": true} "x"',
  "['",
  '["a',
  '[\f]',
  '[\u00a0]',
  '[\u2060]',
  '[\v]',
  '[1]\u0000',
  '[undefined]',
  '[`a`]',
  '(1)',
  // Refused by this service, where the grammar permits both or other parsers repair it.
  '["\\uDADA"]',
  '["\\uD888\\u1234"]',
  '["\\uDFAA"]',
  '["\\uDd1e\\uD834"]',
  '["\\ud800abc"]',
  '{"\\uDFAA":0}',
  '{"a":"b","a":"c"}',
  '{"a":"b","a":"b"}',
  '{"a":{"b":1,"b":1}}',
  '[[{"b":1,"c":[{}],"b":1}]]',
  '{"a":1,"\\u0061":2}',
  '{"\\u0061":1,"\\u0061":2}',
  '{"\\/":1,"/":2}',
  '{"":1,"":2}',
  '{"a":{"x":1,"y":2},"a":{}}',
  '{"0":1,"0":2}',
  '{"constructor":1,"constructor":1}',
  '{"a" \n:1,"a"\t\r\n :1}',
  '{"💣":1,"\\ud83d\\udca3":2}',
  '{"__proto__":{}}',
  '{"__proto__":null}',
  '{"\\u005f_proto__":1}',
  '{"__proto\\u005f\\u005F":{"role":"admin"}}',
  '[{"a":{"__proto__":1}}]',
  Buffer.from([0x22, 0xc0, 0xaf, 0x22]), // overlong /
  Buffer.from([0x22, 0xe0, 0x80, 0xaf, 0x22]),
  Buffer.from([0x22, 0xf0, 0x80, 0x80, 0xaf, 0x22]),
  Buffer.from([0x22, 0xc0, 0x80, 0x22]), // overlong NUL
  Buffer.from([0x22, 0xc3, 0x22]), // truncated
  Buffer.from([0x22, 0xe2, 0x82, 0x22]),
  Buffer.from([0x22, 0xf0, 0x9f, 0x92, 0x22]),
  Buffer.from([0x22, 0x80, 0x22]), // continuation alone
  Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), // surrogate in UTF-8
  Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0xed, 0xb2, 0xa3, 0x22]), // CESU-8
  Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]), // beyond U+10FFFF
  Buffer.from([0x22, 0xf8, 0x88, 0x80, 0x80, 0x80, 0x22]),
  Buffer.from([0x22, 0xff, 0x22]),
  Buffer.from([0x22, 0xfe, 0xff, 0x22]),
];

describe('the grammar of JSON', () => {
  test.each(ACCEPTED.map((text) => [text]))('accepts %j', async (text) => {
    expect(await codeOf(around(text))).toBe('accepted');
    // Valid JSON, but not a request.
    expect(await codeOf(text)).toBe('400 VALIDATION_FAILED');
  });

  test.each(REFUSED.map((text) => [typeof text === 'string' ? text : text.toString('hex'), text]))(
    'refuses %j',
    async (_name, text) => {
      expect(await codeOf(around(text))).toBe('400 MALFORMED_JSON');
      if (text.length > 0) expect(await codeOf(text)).toBe('400 MALFORMED_JSON');
    },
  );

  test('byte order marks, other encodings and white space alone are refused', async () => {
    const body = `{${credentials}}`;
    expect(await codeOf(`\ufeff${body}`)).toBe('400 MALFORMED_JSON');
    expect(await codeOf(Buffer.from(`\ufeff${body}`, 'utf16le'))).toBe('400 MALFORMED_JSON');
    expect(await codeOf(Buffer.from(body, 'utf16le'))).toBe('400 MALFORMED_JSON');
    expect(await codeOf(Buffer.from(body, 'utf16le').swap16())).toBe('400 MALFORMED_JSON');
    expect(await codeOf(' ')).toBe('400 MALFORMED_JSON');
    expect(await codeOf('\n')).toBe('400 MALFORMED_JSON');
    expect(await codeOf('\u0000')).toBe('400 MALFORMED_JSON');
    expect(await codeOf(` \t\r\n${body} \t\r\n`)).toBe('accepted');
  });
});

describe('duplicate members', () => {
  const id = JSON.stringify(app.app_id);
  const secret = JSON.stringify(app.secret);

  test.each([
    ['the same value twice', `{"app_id":${id},"app_id":${id},"secret":${secret}}`],
    ['first right', `{"app_id":${id},"secret":${secret},"app_id":"other"}`],
    ['last right', `{"app_id":"other","secret":${secret},"app_id":${id}}`],
    ['escaped first', `{"app\\u005fid":${id},"secret":${secret},"app_id":${id}}`],
    ['escaped last', `{"app_id":${id},"secret":${secret},"app\\u005Fid":${id}}`],
    ['all escaped', `{"app_id":${id},"\\u0073\\u0065\\u0063\\u0072\\u0065\\u0074":"x","secret":${secret}}`],
    ['null first', `{"app_id":null,"app_id":${id},"secret":${secret}}`],
    ['a structure first', `{"app_id":{"a":1,"b":2},"app_id":${id},"secret":${secret}}`],
    ['among many', `{${credentials},${Array.from({ length: 500 }, (_, i) => `"m${i}":0`).join()},"m250":0}`],
    [
      'with colons and quotes in the values',
      `{"app_id":${id},"secret":${secret},"x":"\\"a\\":","x":"\\\\\\":"}`,
    ],
  ])('%s: refused', async (_name, body) => {
    expect(await codeOf(body)).toBe('400 MALFORMED_JSON');
  });

  test('a value that looks like a member does not hide a duplicate', async () => {
    const bodies = [
      `{"app_id":${id},"secret":${secret},"x":1,"x":{"y":1}}`,
      `{"app_id":${id},"secret":${secret},"x":{"y":1},"x":1}`,
      `{"app_id":${id},"secret":${secret},"x":["\\":"],"x":["y",":"]}`,
      `{"app_id":${id},"secret":${secret},"x":"\\\\","x":":"}`,
    ];
    for (const body of bodies) expect(await codeOf(body), body).toBe('400 MALFORMED_JSON');
  });

  test('members of the prototype are ordinary names', async () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length', '__defineGetter__'];
    for (const name of names)
      expect(await codeOf(`{${credentials},"${name}":{"a":1}}`), name).toBe('accepted');
    for (const name of names) expect(await codeOf(`{"${name}":1}`), name).toBe('400 VALIDATION_FAILED');
  });
});

describe('depth and size', () => {
  const deep = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels);

  test.each([
    ['arrays', '[', ']', 50_000],
    ['objects', '{"":', '}', 20_000],
    ['both', '[{"a":', '}]', 14_000],
  ])('%s thousands of levels deep, balanced or not, anywhere', async (_name, open, close, levels) => {
    const nested = deep(open, `${close}`, levels).replace(`${open}${close}`, `${open}0${close}`);
    expect(await codeOf(nested)).toBe('400 VALIDATION_FAILED');
    expect(await codeOf(open.repeat(levels))).toBe('400 MALFORMED_JSON');
    expect(await codeOf(close.repeat(levels))).toBe('400 MALFORMED_JSON');
    expect(await codeOf(`{${credentials},"x":${nested}}`)).toBe('accepted');
    expect(await codeOf(`{"secret":"s","app_id":${nested}}`)).toBe('400 VALIDATION_FAILED');
  });

  test('deep items in lists of unique items', async () => {
    const nested = deep('[', ']', 30_000);
    for (const member of ['tiers', 'executable_hashes']) {
      const body = `{"${member}":[${nested},${nested}]}`;
      const { status } = await api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, body, app);
      expect(status, member).toBe(400);
    }
  });

  test('names of inherited members count as duplicates in lists, too', async () => {
    const own = `/api/v2/dev/apps/${app.app_id}`;
    for (const name of ['Pro', 'constructor', 'toString', '__proto__', '0']) {
      const { status } = await api.call('PATCH', own, { tiers: [name, name] }, app);
      expect(status, name).toBe(400);
    }
  });

  test.each([
    ['a faulty item in each byte', `{"tiers":[${'0,'.repeat(65_000)}0]}`],
    ['short strings', `{"executable_hashes":[${'"",'.repeat(43_000)}""]}`],
    ['equal strings', `{"executable_hashes":[${'"a",'.repeat(32_000)}"a"]}`],
    ['escapes', `{"tiers":["${'\\u0000'.repeat(21_000)}"]}`],
    ['backslashes', `{"x":"${'\\\\'.repeat(65_000)}"}`],
    ['quotes', `{"x":"${'\\"'.repeat(65_000)}"}`],
    ['white space', `{"x"${' '.repeat(65_000)}:${' '.repeat(65_000)}1}`],
    ['strings before white space', `[${`""${' '.repeat(200)},`.repeat(640)}1]`],
    ['short members', `{${Array.from({ length: 13_000 }, (_, i) => `"${i}":0`).join()}}`],
    ['a long name', `{"${'a'.repeat(130_000)}":0}`],
    ['a long number', `{"max_sessions":${'9'.repeat(130_000)}}`],
    ['a long fraction', `{"max_sessions":0.${'0'.repeat(130_000)}1}`],
    ['brackets in a string', `{"name":"${'['.repeat(130_000)}"}`],
    ['a long address', `{"download_url":"http://${'a.'.repeat(64_000)}"}`],
    ['a long version', `{"minimum_version":"1.0.0-${'a.'.repeat(64_000)}!"}`],
  ])('128 KiB of %s: a small response within seconds', async (_name, body) => {
    expect(body.length).toBeLessThanOrEqual(131_072);
    const started = performance.now();
    const response = await fetch(`${api.baseUrl}/api/v2/dev/apps/${app.app_id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.token}` },
      body,
    });
    const text = await response.text();
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(response.status).toBeLessThan(500);
    expect(text.length).toBeLessThan(1_000_000);
  });

  test('the largest body is accepted, one byte more is not', async () => {
    const padded = (size: number) => `{${credentials}}`.padEnd(size, ' ');
    expect(await codeOf(padded(131_072))).toBe('accepted');
    expect(await codeOf(padded(131_073))).toBe('413 PAYLOAD_TOO_LARGE');
  });

  test.each(['content-length', 'chunked'])('2 MB with %s: 413, and the response arrives', async (framing) => {
    const body = Buffer.alloc(2_000_000, 0x20);
    for (const token of [app.token, undefined]) {
      const started = performance.now();
      const response = await fetch(`${api.baseUrl}/api/v2/dev/apps`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: framing === 'chunked' ? new Blob([body]).stream() : body,
        duplex: 'half',
      } as RequestInit);
      // A chunk over the limit is refused before everything else.
      expect(response.status).toBe(token === undefined && framing === 'content-length' ? 401 : 413);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      await response.text();
      expect(performance.now() - started).toBeLessThan(5_000);
    }
    expect((await api.call('GET', '/health')).status).toBe(200);
  });

  test('2 MB to paths that take no body or do not exist', async () => {
    const head = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n';
    const body = ' '.repeat(2_000_000);
    for (const [method, target] of [
      ['POST', '/health'],
      ['POST', '/nowhere'],
      ['PUT', '/api/v1/client/login'],
      ['POST', '/errors/not-found'],
      ['DELETE', `/api/v2/dev/apps/${app.app_id}`],
    ] as const) {
      const exchange = await sendRaw(api.baseUrl, `${method} ${target} HTTP/1.1\r\n${head}${body}`);
      expectRefusal(exchange, method, target);
    }
  });
});

describe('media types and encodings', () => {
  const body = `{${credentials}}`;

  test.each([
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json-patch+json',
    'application/problem+json',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/json; charset=utf-16le',
    'application/json; charset=utf-32',
    'application/json; charset=latin1',
    'application/json; charset=utf-7',
    'application/json; charset=',
    'application/json; charset=""',
    'application/json; charset="utf-16"',
    'application/json; charset=utf-8x',
    'application/json; charset=x; charset=utf-8',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset="',
    'application/json;charset="utf-8',
    'application/json, application/json',
    'application/json, text/plain',
    'application /json',
    'application/ json',
    'application/json/x',
    'application',
    '/',
    ';',
    '*/*',
    'application/*',
    '; charset=utf-8',
    '',
    'constructor',
  ])('Content-Type: %s is refused', async (type) => {
    const { status, body: text } = await api.call('POST', path, body, {
      headers: { 'content-type': type },
    });
    expect({ status, code: text['code'] }).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; charset="utf-8"',
    'application/json; boundary=x; __proto__=y',
  ])('Content-Type: %s is accepted', async (type) => {
    const { status } = await api.call('POST', path, body, { headers: { 'content-type': type } });
    expect(status).toBe(200);
  });

  test.each([
    'gzip',
    'deflate',
    'br',
    'zstd',
    'x-gzip',
    'identity, gzip',
    'gzip, identity',
    'utf-8',
    '*',
    ',',
  ])('Content-Encoding: %s is refused before decompression', async (encoding) => {
    const bodies = [gzipSync(body), gzipSync(Buffer.alloc(10_000_000)), Buffer.from('not gzip'), body];
    for (const bytes of bodies) {
      const started = performance.now();
      const headers = { 'content-encoding': encoding };
      const { status, body: text } = await api.call('POST', path, bytes, { headers });
      expect({ status, code: text['code'] }).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });

  test('an empty body counts as missing', async () => {
    for (const framing of ['', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n']) {
      const json = 'Host: x\r\nContent-Type: application/json\r\n';
      const bytes = `POST ${path} HTTP/1.1\r\n${json}${framing}\r\n${framing.startsWith('T') ? '0\r\n\r\n' : ''}`;
      const text = expectRefusal(await sendRaw(api.baseUrl, bytes), 'POST', path);
      expect(JSON.parse(text.text)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });

  test('a missing Content-Type is refused', async () => {
    const bytes = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect(expectRefusal(await sendRaw(api.baseUrl, bytes), 'POST', path).status).toBe(415);
  });
});
