import { afterAll, expect, test } from 'vitest';
import { newContent, putFile } from '../operations/support/files.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/processes.ts';
import { startTwoProcesses } from './two-processes.ts';

const { services, sql } = await startTwoProcesses({
  DATA_DIR: await temporaryFolder(afterAll),
  FILE_QUOTA_BYTES: '100000',
});
const [{ api }] = services;

test('8 uploads at once to two applications over two processes: never above the quota', async () => {
  for (let round = 0; round < 6; round += 1) {
    const developer = await newDeveloper(api);
    const apps = [await newApp(api, developer), await newApp(api, developer)] as const;
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, turn) =>
        putFile(
          services[turn % 2 === 0 ? 0 : 1].api,
          apps[turn < 4 ? 0 : 1],
          `file ${turn}`,
          newContent(60_000),
        ),
      ),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(7).fill(403)]);
    const sizes = await sql(
      'select size::int from files join applications using (app_id) where developer_id = $1',
      [developer.developerId],
    );
    expect(sizes).toEqual([{ size: 60_000 }]);
  }
});
