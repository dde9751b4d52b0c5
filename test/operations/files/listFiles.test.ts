import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp } from '../../support/fixtures.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { filesOf, startFileService, upload } from '../support/files.ts';

type FileList = components['schemas']['HostedFileList'];

const { api } = await startFileService();

test('pages together have every file once, newest first', async () => {
  const app = await newApp(api);
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    await upload(api, app, `f${n}`, String(n), `?authenticated_only=${n % 2 === 0}`);
    made.unshift(`f${n}`);
  }
  await upload(api, app, 'f1', 'replaced: it keeps its place');
  const found: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `${filesOf(app)}?limit=2${cursor && `&cursor=${cursor}`}`;
    const { body } = await api.call<FileList>('GET', path, undefined, { token: app.token });
    found.push(...body.data.map(({ name }) => name));
    cursor = body.next_cursor;
  }
  expect(found).toEqual(made);
});

test('APPLICATION_NOT_FOUND for another developer’s', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const response = await api.call('GET', filesOf(app), undefined, { token: other.token });
  expectError(response, 404, 'APPLICATION_NOT_FOUND');
});

test.each([
  ['?limit=101', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const app = await newApp(api);
  expectFaults(await api.call('GET', filesOf(app) + query, undefined, { token: app.token }), pointer);
});
