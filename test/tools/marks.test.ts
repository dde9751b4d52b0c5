import { expect, test } from 'vitest';
import { faultyMarks } from '../../tools/check-marks.ts';
import { readContract } from '../../tools/generate/bundle.ts';

// Faults are planted as plain JSON.
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

const sound = await readContract('openapi.yaml');

/** What is found after a change to the contract. */
function found(change: (contract: Json) => void): string[] {
  const contract: Json = structuredClone(sound);
  change(contract);
  return faultyMarks(contract);
}

const licenses = ({ paths }: Json) => paths['/api/v2/dev/apps/{app_id}/licenses'];
const marked = (contract: Json) => licenses(contract).post['x-mcp-tool'];

test('the contract has no fault', () => {
  expect(found(() => {})).toEqual([]);
});

test('finds a misspelled mark anywhere', () => {
  const unknown = found((contract) => {
    licenses(contract).post['x-mpc-tool'] = {};
    contract.components.schemas.License.properties['x-named'] = { type: 'string', 'x-redcat': true };
    contract.components.parameters.LimitParameter['x-unknown'] = true;
  });
  expect(unknown).toEqual([
    '#/paths/~1api~1v2~1dev~1apps~1{app_id}~1licenses/post/x-mpc-tool: is unknown',
    '#/components/parameters/LimitParameter/x-unknown: is unknown',
    '#/components/schemas/License/properties/x-named/x-redcat: is unknown',
  ]);
});

test.each<[string, (contract: Json) => void, string]>([
  [
    'a name of another form',
    (contract) => (marked(contract).name = 'generateLicenses'),
    'its name must be lower case words with underscores between them',
  ],
  ['no title', (contract) => delete marked(contract).title, 'its title is missing'],
  [
    'no word on effects',
    (contract) => delete marked(contract).destructive,
    'destructive must be true or false',
  ],
  [
    'a text for a switch',
    (contract) => (marked(contract).idempotent = 'no'),
    'idempotent must be true or false',
  ],
  ['a member that it has not', (contract) => (marked(contract).readonly = true), 'unknown members: readonly'],
  [
    'what reads and takes away',
    (contract) => Object.assign(marked(contract), { read_only: true, destructive: true }),
    'a read-only tool must be idempotent and not destructive',
  ],
  [
    'what reads and may write',
    (contract) => Object.assign(marked(contract), { read_only: true, idempotent: true }),
    'a read-only tool needs only the scope read',
  ],
  [
    'two arguments of one name',
    (contract) => {
      const { properties } = contract.components.schemas.CreateLicensesRequest;
      properties.app_id = { type: 'string' };
    },
    'two arguments are named app_id',
  ],
  [
    'an argument with the name of the key',
    (contract) => {
      const { properties } = contract.components.schemas.CreateLicensesRequest;
      properties.idempotency_key = { type: 'string' };
    },
    'two arguments are named idempotency_key',
  ],
  [
    'a body that is no JSON',
    (contract) => {
      const { content } = licenses(contract).post.requestBody;
      licenses(contract).post.requestBody.content = { 'text/csv': content['application/json'] };
    },
    'its body is not JSON',
  ],
  [
    'a response that is not JSON',
    (contract) => (licenses(contract).post.responses['201'] = { description: 'None.' }),
    'its response is not JSON',
  ],
  [
    'a header that must be there',
    (contract) =>
      licenses(contract).post.parameters.push({ $ref: '#/components/parameters/RequestTimestampParameter' }),
    'it requires the header x-timestamp',
  ],
  [
    'a signature',
    (contract) => (licenses(contract).post['x-signature'] = 'required'),
    'agents cannot sign requests',
  ],
])('%s makes no tool', (_, change, fault) => {
  expect(found(change)).toEqual([`createLicenses cannot be a tool: ${fault}`]);
});

test('two tools of one name are found', () => {
  const twice = found((contract) => (licenses(contract).get['x-mcp-tool'].name = 'generate_licenses'));
  expect(twice).toEqual(['two tools are called generate_licenses']);
});
