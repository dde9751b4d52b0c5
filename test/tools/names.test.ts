import { expect, test } from 'vitest';
import { unmarkedNames } from '../../tools/check-names.ts';
import { readContract } from '../../tools/generate/bundle.ts';

const contract = await readContract('openapi.yaml');

test('every name in a request is a new one that must be visible, or an existing one', () => {
  expect(unmarkedNames(contract)).toEqual([]);
});

test('finds a name without a mark and a new name without the format', () => {
  const changed = structuredClone(contract);
  const schemas = changed.components!.schemas!;
  const request = schemas['CreateApplicationRequest'] as { properties: Record<string, object> };
  request.properties['display_name'] = { type: 'string' };
  request.properties['name'] = { type: 'string', 'x-name': 'given' };
  expect(unmarkedNames(changed)).toEqual([
    'createApplication/name needs a format of names',
    'createApplication/display_name needs x-name',
  ]);
});
