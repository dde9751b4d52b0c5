import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPathRedaction } from '../../src/http/server/path-redaction.ts';

const ROUTES = ['/account/password/:token', '/pay/:session/receipt', '/api/v2/dev/apps/{app_id}/licenses'];
const redactPath = createPathRedaction(ROUTES);
const WORDS = ROUTES.join('/')
  .split('/')
  .filter((word) => !/[:{]/.test(word));

test.each([
  ['/pay/cs_test_secret/receipt?x=1', '/pay/[redacted]/receipt'],
  ['//account//password/token/', '//account//password/[redacted]/'],
  [
    '/api/v2/dev/apps/app_01jd8x4zq2e4sthvm5kx3rqp9t/licenses',
    '/api/v2/dev/apps/app_01jd8x4zq2e4sthvm5kx3rqp9t/licenses',
  ],
  ['/checkout/chk_01jd8x4zq2e4sthvm5kx3rqp9t', '/[redacted]/[redacted]'],
  ['http://host:x/account/password/token', '[redacted]//[redacted]/account/password/[redacted]'],
  ['*', '[redacted]'],
])('%s is logged as %s', (target, shown) => expect(redactPath(target)).toBe(shown));

describe('a secret', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9_-]{4,60}$/).filter((text) => !WORDS.includes(text));
  const joint = fc.constantFrom('/', '//', '/./', '/../', '%2F', '\\', ';', '#', '&', ' ', '%5c', '?');
  const word = fc.constantFrom(...WORDS, 'ACCOUNT', '%61ccount', 'nowhere');

  test('is redacted in every spelling of a URL', () => {
    const target = fc
      .array(fc.tuple(joint, word), { maxLength: 20 })
      .chain((parts) =>
        fc
          .tuple(joint, joint, fc.constantFrom('', '/', '/receipt', ';x', '/licenses'))
          .map(([start, end, tail]) => ({ head: start + parts.flat().join(''), end, tail })),
      );
    fc.assert(
      fc.property(target, secret, ({ head, end, tail }, hidden) => {
        const shown = redactPath(`${head}${end}${hidden}${tail}`);
        const left = shown.split('/').filter((segment) => segment !== '' && segment !== '[redacted]');
        expect(left.filter((segment) => !WORDS.includes(segment))).toEqual([]);
      }),
      { seed: 20_261_122, numRuns: 2_000 },
    );
  });
});

test('a target of any length is one short entry', () => {
  expect(redactPath('/account'.repeat(10_000)).length).toBeLessThan(200);
});
