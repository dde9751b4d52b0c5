import { expect, test } from 'vitest';
import type { Document } from 'openapi-backend';
import { applyBodyLimits } from '../../src/http/contract/body-limit.ts';

const documentWith = (marks: object) =>
  ({ paths: { '/a': { parameters: [], put: { operationId: 'upload', ...marks } } } }) as unknown as Document;

test('a setting changes only the limits of operations that name it', () => {
  const named = documentWith({ 'x-max-bytes': 7, 'x-max-bytes-setting': 'A_LIMIT' });
  const other = documentWith({ 'x-max-bytes': 7 });
  for (const document of [named, other]) applyBodyLimits(document, { A_LIMIT: 9 });
  expect(named.paths!['/a']!.put).toMatchObject({ 'x-max-bytes': 9 });
  expect(other.paths!['/a']!.put).toEqual({ operationId: 'upload', 'x-max-bytes': 7 });
});

test('startup fails for a setting that does not exist', () => {
  const document = documentWith({ 'x-max-bytes-setting': 'ANOTHER' });
  expect(() => applyBodyLimits(document, { A_LIMIT: 9 })).toThrow('there is no setting ANOTHER');
});
