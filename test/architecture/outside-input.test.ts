import { describe, expect, test } from 'vitest';
import { sources } from './sources.ts';

const codeOf = (wanted: string) => sources.find(({ file }) => file === wanted)!.code;

/** Ways to read external input, and the files that may use them, with the reason why that is safe. */
const READERS: readonly (readonly [string, RegExp, Readonly<Record<string, string>>])[] = [
  [
    'JSON is parsed strictly',
    /\bJSON\.parse\(|\.json\(\)/,
    {
      'src/platform/strict-json.ts': 'the strict reader itself',
      'src/app/compose/compose.ts': 'the contract, a file of the service',
      'src/config/setting-values.ts': 'settings of the operator',
      'src/platform/version.ts': 'package.json, a file of the service',
      'src/foundation/idempotency/idempotency.ts': 'responses of the service',
      'src/messaging/mails/sealed-message.ts': 'what the service has sealed',
      'src/access/oauth/records.ts': 'what the service has sealed',
      'src/commerce/machine-payments/challenge.ts': 'what the service has authenticated with its own key',
      'src/http/mcp/result.ts': 'responses of the service',
      'src/access/security-events/security-event-state.ts':
        'pure rules: the refusal of a receiver, shown to its developer',
      'src/access/agents/revocation.ts': 'keys of a map of the function itself',
    },
  ],
  [
    'tokens of others are read strictly before a library reads them',
    /\b(jwtVerify|compactVerify|jwtDecrypt|decodeJwt|decodeProtectedHeader|flattenedVerify)(<[^(]*>)?\(/,
    {
      'src/access/agents/assertions.ts': 'after readJwt',
      'src/foundation/tokens/tokens.ts': 'tokens that the service has signed',
    },
  ],
  [
    'bodies are read in one place',
    /\bgetRawBody\(|for await \([^)]* of request\)|\brequest\.(on|once)\('data'|express\.(json|urlencoded|text|raw)\(/,
    { 'src/http/transport/request-body.ts': 'the reader of bodies' },
  ],
  ['forms are parsed strictly', /\bnew URLSearchParams\((request|body|text|raw|bytes)|\bquerystring\b/, {}],
  ['text is decoded strictly', /\bnew TextDecoder\((?![^)]*fatal: true)/, {}],
];

describe('external input', () => {
  test('there are files', () => expect(sources.length).toBeGreaterThan(400));

  test.each(READERS)('%s', (_rule, pattern, allowed) => {
    const found = sources.filter(({ code }) => pattern.test(code)).map(({ file }) => file);
    // An exception that is no longer used must be removed.
    expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted());
  });

  test('assertions of others are read by readJwt first', () => {
    expect(codeOf('src/access/agents/assertions.ts')).toMatch(/readJwt\(token\)[^]*jwtVerify\(token/);
  });
});
