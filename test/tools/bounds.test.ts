import { expect, test } from 'vitest';
import { unbounded } from '../../tools/check-bounds.ts';
import { readContract } from '../../tools/generate/bundle.ts';
import { endingEarly } from '../../tools/generate/standalone.ts';

// Faults are planted as plain JSON.
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

const sound = await readContract('openapi.yaml');

/** The faults after a change to the contract. */
function found(change: (contract: Json) => void): string[] {
  const contract: Json = structuredClone(sound);
  change(contract);
  return unbounded(contract);
}

test('the contract has no fault', () => {
  expect(found(() => {})).toEqual([]);
});

test('finds unlimited lists and maps anywhere in requests', () => {
  const faults = found(({ components: { schemas } }) => {
    delete schemas.Tiers.maxItems;
    schemas.CreateBanRequest.properties.network = { type: 'array', items: { type: 'string' } };
    schemas.RegisterUserRequest.allOf = [
      { properties: { more: { type: 'object', additionalProperties: {} } } },
    ];
  });
  expect(faults.sort()).toEqual([
    '#/components/schemas/CreateBanRequest/properties/network: has no maxItems',
    '#/components/schemas/RegisterUserRequest/allOf/0/properties/more: has no maxProperties',
    '#/components/schemas/Tiers: has no maxItems',
  ]);
});

test('finds lists of unique objects', () => {
  const faults = found(({ components: { schemas } }) => {
    schemas.CreateBanRequest.properties.network = {
      type: 'array',
      maxItems: 9,
      uniqueItems: true,
      items: { type: 'object' },
    };
  });
  expect(faults).toEqual([
    '#/components/schemas/CreateBanRequest/properties/network: has uniqueItems of something else than scalars',
  ]);
});

test('responses may have any length', () => {
  expect(found(({ components }) => (components.schemas.License.properties.x = { type: 'array' }))).toEqual(
    [],
  );
});

test('the build fails on validators with unlimited loops', () => {
  expect(endingEarly('for(let i0=0; i0<len0; i0++){\n}', 5)).toContain('errors + 5');
  for (const loop of ['for(let j0=0; j0<9; j0++){', 'while (true) {', 'for(;i0--;){\nfor(j0 = i0; j0--;){']) {
    expect(() => endingEarly(loop, 5), loop).toThrow(/loop/);
  }
});

test('finds unlimited strings with a pattern or a format', () => {
  const faults = found(({ components: { schemas } }) => {
    delete schemas.Currency.maxLength;
    schemas.CreateBanRequest.properties.network = { type: 'string', format: 'uri' };
    schemas.CreateBanRequest.properties.reason = {
      type: 'string',
      format: 'date-time',
      pattern: '^[0-9]{4}-',
    };
  });
  expect(faults.sort()).toEqual([
    '#/components/schemas/CreateBanRequest/properties/network: has no maxLength',
    '#/components/schemas/Currency: has no maxLength',
  ]);
});
