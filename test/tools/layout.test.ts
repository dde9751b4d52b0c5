import { expect, test } from 'vitest';
import { misplaced, readContractFiles } from '../../tools/check-layout.ts';

// Faults are planted as plain JSON.
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

const sound = readContractFiles('.');

/** The faults after a change to the files of the contract. */
function found(change: (contract: Json) => void): string[] {
  const contract: Json = structuredClone(sound);
  change(contract);
  return misplaced(contract);
}

/** Moves a member of one object to another. */
function move(name: string, from: Json, to: Json): void {
  to[name] = from[name];
  delete from[name];
}

const BANS = '/api/v2/dev/apps/{app_id}/bans';

test('each operation and each component is in the file of its tag', () => {
  expect(found(() => {})).toEqual([]);
});

test('finds a tag without a file and a file without a tag', () => {
  const faults = found(({ root, files }) => {
    root.tags.push({ name: 'Seats' });
    files['openapi/other.yaml'] = { paths: {} };
  });
  expect(faults).toEqual(['openapi/seats.yaml is missing', 'openapi/other.yaml belongs to no tag']);
});

test('finds an operation in the file of another tag', () => {
  const faults = found(({ files }) => (files['openapi/bans.yaml'].paths[BANS].post.tags = ['Users']));
  expect(faults).toEqual(['createBan is in openapi/bans.yaml, and not in openapi/users.yaml']);
});

test('finds a path that is missing in the root, from another file, or described in the root', () => {
  const reference = `{ $ref: 'openapi/bans.yaml#/paths/~1api~1v2~1dev~1apps~1{app_id}~1bans' }`;
  expect(found(({ root }) => delete root.paths[BANS])).toEqual([`openapi.yaml lacks ${BANS}: ${reference}`]);
  expect(found(({ root }) => (root.paths[BANS] = root.paths['/health']))).toEqual([
    `openapi.yaml lacks ${BANS}: ${reference}`,
    `${BANS} of openapi.yaml is not in the file of a tag`,
  ]);
  expect(found(({ root }) => (root.paths['/new'] = { get: {} }))).toEqual([
    '/new of openapi.yaml is not in the file of a tag',
  ]);
});

test('a component that one tag uses belongs to the file of the tag', () => {
  const faults = found(({ root, files }) =>
    move('BanList', files['openapi/bans.yaml'].components.schemas, root.components.schemas),
  );
  expect(faults).toEqual(['schemas/BanList is in openapi.yaml, and not in openapi/bans.yaml']);
});

test('a component that several tags use belongs to the root, directly or not', () => {
  const faults = found(({ root, files }) => {
    move('ValidationProblems', root.components.schemas, files['openapi/bans.yaml'].components.schemas);
  });
  expect(faults).toEqual(['schemas/ValidationProblems is in openapi/bans.yaml, and not in openapi.yaml']);
});

test('finds an unused component and one that is in two files', () => {
  const faults = found(({ root, files }) => {
    files['openapi/bans.yaml'].components.schemas.Unused = { type: 'string' };
    files['openapi/users.yaml'].components.schemas.DisplayName = root.components.schemas.DisplayName;
  });
  expect(faults).toEqual([
    'schemas/DisplayName is in openapi.yaml and in openapi/users.yaml',
    'schemas/Unused in openapi/bans.yaml is not used',
  ]);
});
