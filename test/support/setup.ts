import { afterAll, afterEach } from 'vitest';
import { endFile } from './at-file-end.ts';
import { takeLog } from './test-logger.ts';

// Runs first in each test file, so that its clean-up runs last.
afterAll(endFile, 120_000);

afterEach(({ task }) => {
  const lines = takeLog();
  if (task.result?.state === 'fail' && lines.length > 0) console.error(lines.join(''));
});
