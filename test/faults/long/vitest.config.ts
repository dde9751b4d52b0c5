import { defineConfig } from 'vitest/config';

/** `npm run test:faults`: tests that take real time. Their names do not end in .test.ts, so `npm test` skips them. */
export default defineConfig({
  root: new URL('../../..', import.meta.url).pathname,
  test: {
    include: ['test/faults/long/*.long.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    setupFiles: ['test/support/setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
