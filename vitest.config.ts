import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    setupFiles: ['test/support/file-end.ts'],
    // Files wait for databases and processes more than they compute, and each would load Prism again.
    maxWorkers: 4,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A poll ends as soon as it is satisfied; on a busy machine vitest's own second is too short.
    expect: { poll: { timeout: 20_000 } },
  },
});
