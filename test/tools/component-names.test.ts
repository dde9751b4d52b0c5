import { expect, test } from 'vitest';
import { puzzlingNames } from '../../tools/check-component-names.ts';
import { readContract } from '../../tools/generate/bundle.ts';

// Faults are planted as plain JSON.
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

const sound = await readContract('openapi.yaml');

/** The faults after a change to the contract. */
function found(change: (contract: Json) => void): string[] {
  const contract: Json = structuredClone(sound);
  change(contract);
  return puzzlingNames(contract);
}

const json = (schema: object) => ({ content: { 'application/json': { schema } } });

test('the contract has no fault', () => {
  expect(found(() => {})).toEqual([]);
});

test('finds a body with another suffix or without a name', () => {
  const faults = found(({ paths, components }) => {
    const { post } = paths['/api/v2/dev/apps'];
    components.schemas.NewApplication = components.schemas.CreateApplicationRequest;
    delete components.schemas.CreateApplicationRequest;
    post.requestBody = json({ $ref: '#/components/schemas/NewApplication' });
    paths['/health'].get.responses['200'] = json({ type: 'object' });
    delete components.schemas.HealthResult;
  });
  expect(faults).toEqual([
    'the response 200 of getHealth has the schema without a name',
    'the request of createApplication has the schema NewApplication',
  ]);
});

test('finds the suffix of a body on another schema, and the name of a common class', () => {
  const faults = found(({ components }) => {
    components.schemas.TierList = { type: 'array', items: {} };
    components.schemas.File = { type: 'object' };
  });
  expect(faults).toEqual(['TierList is not the body of an operation', 'File is the name of a common class']);
});
