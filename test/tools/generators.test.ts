import { expect, test } from 'vitest';
import { generatorFaults } from '../../tools/check-generators.ts';
import { readContract } from '../../tools/generate/bundle.ts';

// Faults are planted as plain JSON.
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

const sound = await readContract('openapi.yaml');

/** What is found after a change to the contract. */
function found(change: (contract: Json) => void): string[] {
  const contract: Json = structuredClone(sound);
  change(contract);
  return generatorFaults(contract);
}

const login = ({ paths }: Json) => paths['/api/v2/client/login'].post;
const schema = ({ components }: Json, name: string) => components.schemas[name];

test('the contract has no fault', () => {
  expect(found(() => {})).toEqual([]);
});

test.each<[string, (contract: Json) => unknown, string[]]>([
  [
    'a token of no kind',
    ({ paths }) => delete paths['/api/v2/dev/me'].get['x-bearer-token'],
    ['getDeveloper: x-bearer-token names the token of the scheme BearerToken'],
  ],
  [
    'a token without the scheme',
    (contract) => (login(contract)['x-bearer-token'] = 'session'),
    ['loginUserV2: x-bearer-token names the token of the scheme BearerToken'],
  ],
  [
    'another scheme',
    ({ components }) => (components.securitySchemes.Basic = { type: 'http', scheme: 'basic' }),
    ['securitySchemes: has more than BearerToken'],
  ],
  [
    'a choice of a member that does not exist',
    (contract) => schema(contract, 'ExtendUserRequest')['x-exactly-one-of'].push('weeks'),
    ['x-exactly-one-of: there is no member weeks'],
  ],
  [
    'a choice in a response',
    (contract) => (schema(contract, 'License')['x-exactly-one-of'] = ['tier']),
    ['x-exactly-one-of: is where the service does not look for it'],
  ],
  [
    'a request in two media types',
    (contract) => {
      const { content } = login(contract).requestBody;
      content['text/csv'] = { schema: { type: 'string' } };
    },
    ['loginUserV2: the request has several media types'],
  ],
  [
    'a request of another media type',
    (contract) => (login(contract).requestBody.content = { 'text/csv': { schema: { type: 'string' } } }),
    ['loginUserV2: the request is neither application/json nor application/octet-stream'],
  ],
  [
    'a success without content next to one with content',
    (contract) => (login(contract).responses['202'] = { description: 'Later.' }),
    ['loginUserV2: has several kinds of success'],
  ],
  [
    'a success in two media types',
    (contract) => {
      const { content } = login(contract).responses['200'];
      content['application/octet-stream'] = { schema: { type: 'string', format: 'binary' } };
    },
    ['loginUserV2 200: has several media types'],
  ],
  [
    'a text that is not a file',
    ({ paths }) => {
      const { content } = paths['/api/v2/client/events'].get.responses['200'];
      delete content['text/event-stream'].schema.format;
    },
    ['streamSessionEvents 200: text/event-stream needs the format binary'],
  ],
  [
    'a union',
    (contract) => (schema(contract, 'LoginUserRequest').oneOf = [{ required: ['hwid'] }]),
    ['LoginUserRequest: has oneOf'],
  ],
  [
    'a closed schema of a response',
    (contract) => delete schema(contract, 'License').additionalProperties,
    ['License: lacks additionalProperties: true'],
  ],
  [
    'a closed composition',
    (contract) => delete schema(contract, 'LicenseResult').additionalProperties,
    ['LicenseResult: lacks additionalProperties: true'],
  ],
  [
    'an open schema of a request',
    (contract) => (schema(contract, 'LoginUserRequest').additionalProperties = true),
    ['LoginUserRequest: has additionalProperties: true'],
  ],
  [
    'an object inside another one',
    (contract) => {
      const inner = { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: true };
      schema(contract, 'License').properties.owners = { type: 'array', items: inner };
    },
    ['License.owners[]: is not a schema with a name'],
  ],
  [
    'a number of 24 bits',
    (contract) => delete schema(contract, 'Money').format,
    ['Money: needs the format double'],
  ],
  [
    'a time with a pattern',
    (contract) => (schema(contract, 'License').properties.created_at.pattern = '^2'),
    ['License.created_at: has a pattern or a length besides its format: use x-pattern or x-format'],
  ],
  [
    'a parameter with limits of its own',
    ({ components }) => (components.parameters.CursorParameter.schema = { type: 'string', maxLength: 9 }),
    ['parameter cursor: its schema has no name'],
  ],
  [
    'a parameter that is named like a schema',
    ({ components }) => {
      components.parameters.License = components.parameters.CursorParameter;
    },
    ['parameters/License: its name does not end in Parameter'],
  ],
  [
    'a schema that is named like a parameter',
    ({ components }) => (components.schemas.KeyHeader = { type: 'string' }),
    ['schemas/KeyHeader: has the suffix of another kind'],
  ],
  [
    'a schema that is named like a response',
    ({ components }) => (components.schemas.Problem = { type: 'string' }),
    ['schemas/Problem: is in responses, too'],
  ],
  [
    'a schema that is named like a constructor',
    ({ components }) => (components.schemas.NewLicense = { type: 'object', properties: {} }),
    ['schemas/NewLicense: is the constructor of License'],
  ],
  [
    'values of two enums with names',
    ({ components }) => (components.schemas.Order = { type: 'string', enum: ['desc', 'random'] }),
    ['Order: shares desc with EventOrder: write it without a name'],
  ],
  [
    'a value that is a member of every enum',
    ({ components }) => (components.schemas.Order = { type: 'string', enum: ['name', 'random'] }),
    ['schemas/Order: the value name is a member of every enum'],
  ],
  [
    'other headers with the same schema',
    ({ paths }) => {
      const { headers } = paths['/api/v2/dev/logout'].post.responses['200'];
      headers['ETag'] = { $ref: '#/components/headers/ETagHeader' };
    },
    ['logoutDeveloper: another response with MessageResult has other headers'],
  ],
  [
    'members in another order in v2',
    (contract) => schema(contract, 'VerifySessionV2Request').required.reverse(),
    ['verifySessionV2: its members have another order than those of verifySession'],
  ],
])('%s is found', (_, change, faults) => {
  expect(found(change).toSorted()).toEqual(faults.toSorted());
});
