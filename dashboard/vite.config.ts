import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The service that `npm run dev:dashboard` passes requests to. */
const SERVICE = 'http://127.0.0.1:3000';

/** What the dashboard calls or links to, apart from its own pages. */
const OF_SERVICE = ['/api', '/account', '/errors', '/docs', '/guides', '/openapi.json', '/.well-known'];

/** The pages of a folder, without their routes, which the router needs from the start. */
const pagesOf = (name: string, folders: string) => ({
  name,
  test: new RegExp(`/src/pages/(?:${folders})/(?!.*\\broute\\.ts$)`),
  includeDependenciesRecursively: false,
});

const PAGE_GROUPS = [
  pagesOf('operator', 'operator-console'),
  pagesOf('reseller', 'reseller-console'),
  pagesOf('account', 'access|audit-log|plan|reseller|resellers'),
  pagesOf('people', 'licenses|users|user|sessions|bans|events|account-events'),
  pagesOf('application', 'settings|statistics|variables|files|webhooks|webhook'),
];

interface Graph {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importers: readonly string[] } | null;
}

/** Whether the first page needs a module. */
function isFirst(id: string, graph: Graph, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const info = graph.getModuleInfo(id);
  return info !== null && (info.isEntry || info.importers.some((each) => isFirst(each, graph, seen)));
}

/** One file for what the first page needs, and one for what several groups of pages need, instead of forty. */
const SHARED = {
  debugName: 'shared',
  name: (id: string, graph: Graph) => (isFirst(id, graph) ? 'first' : 'shared'),
  minShareCount: 2,
  includeDependenciesRecursively: false,
};

/** Lets the shared file load while the first ones run, because every page but a sign-in needs it. */
const preloadShared: Plugin = {
  name: 'preload-shared',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) =>
      Object.values(bundle)
        .filter(({ type, name }) => type === 'chunk' && name === 'shared')
        .map(({ fileName }) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${fileName}` },
        })),
  },
};

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // The server fills in where the dashboard is, so the files refer to each other by relative addresses.
  base: command === 'build' ? './' : '/dashboard/',
  plugins: [react(), preloadShared],
  build: {
    target: ['chrome130', 'firefox130', 'safari18'],
    // The policy allows no data in scripts or styles, and a file of its own is cached.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One small file, so that no page is shown before its styles.
    cssCodeSplit: false,
    reportCompressedSize: false,
    // Pages that are used together compress together.
    rolldownOptions: { output: { codeSplitting: { groups: [...PAGE_GROUPS, SHARED] } } },
  },
  // Examples of requests are written by the service's own code.
  server: { fs: { allow: ['..'] }, proxy: Object.fromEntries(OF_SERVICE.map((path) => [path, SERVICE])) },
}));
