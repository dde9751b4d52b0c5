import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    setupFiles: ['test/support/setup.ts'],
    // With PostgreSQL and what tests start, two keep two cores busy; each more loads and compiles everything again.
    maxWorkers: 2,
    isolate: false,
    // A limit for what hangs, not for what is slow: a busy machine takes several times as long as a quiet one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A poll ends as soon as it is satisfied; on a busy machine vitest's own second is too short.
    expect: { poll: { timeout: 20_000 } },
  },
});
