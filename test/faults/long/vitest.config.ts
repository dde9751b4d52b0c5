import { defineConfig } from 'vitest/config';

/** `npm run test:faults`: what takes true time. Its files do not end in .test.ts, so that `npm test` leaves them out. */
export default defineConfig({
  root: new URL('../../..', import.meta.url).pathname,
  test: {
    include: ['test/faults/long/*.long.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    setupFiles: ['test/support/file-end.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
