import { describe, expect, test } from 'vitest';
import { filesWith, sources, type Source } from './sources.ts';

/** The entry points: they hand the environment over, open and start. */
const ENTRIES = ['src/main.ts', 'src/seed.ts', 'src/migrate.ts', 'src/restored.ts'];
/** What the entry points are made of. */
const STARTERS = [
  'src/serve.ts',
  'src/service.ts',
  'src/command.ts',
  'src/config.ts',
  'src/settings.ts',
  'src/setting-values.ts',
  'src/compose.ts',
  'src/housekeeping.ts',
];
/** Words that every layer speaks: no code of a layer is in them. */
const VOCABULARY = ['src/errors/api-error.ts', 'src/errors/catalogue.ts', 'src/paging/page.ts'];

const NO_DOMAIN = ['errors', 'paging', 'http', 'platform', 'migrations', 'demo', 'compose'];

/** The domain of a file of `src/<domain>/`. */
function domainOf(file: string): string | undefined {
  const folder = /^src\/([^/]+)\//.exec(file)?.[1];
  return folder === undefined || NO_DOMAIN.includes(folder) ? undefined : folder;
}

const within = (folder: string) => (file: string) => file.startsWith(folder);
const inRepository = (name: string) => /^(src|handlers|generated|test|tools|dashboard|bench)\//.test(name);

/** Files that import what they may not: `importer -> imported`. */
function violations(
  importers: (source: Source) => boolean,
  allowed: (imported: string, file: string) => boolean,
) {
  return sources
    .filter(importers)
    .flatMap(({ file, imports }) =>
      imports
        .filter((imported) => inRepository(imported) && !allowed(imported, file))
        .map((imported) => `${file} -> ${imported}`),
    );
}

describe('imports run one way', () => {
  test('there is something to look at', () => {
    expect(sources.length).toBeGreaterThan(60);
    expect(new Set(sources.map(({ file }) => domainOf(file)).filter(Boolean)).size).toBeGreaterThan(8);
    expect(sources.find(({ file }) => file === 'src/users/users.ts')!.imports).toContain(
      'src/users/user-store.ts',
    );
  });

  test('platform knows nothing above it', () => {
    expect(violations(({ file }) => file.startsWith('src/platform/'), within('src/platform/'))).toEqual([]);
  });

  test('the vocabulary of errors and pages knows nothing but itself', () => {
    const found = violations(
      ({ file }) => /^src\/(errors|paging)\//.test(file),
      (imported) => VOCABULARY.includes(imported),
    );
    expect(found).toEqual([]);
  });

  test('migrations know nothing but each other', () => {
    expect(violations(({ file }) => file.startsWith('src/migrations/'), within('src/migrations/'))).toEqual(
      [],
    );
  });

  test('a domain knows itself, the platform, and other domains by what they offer', () => {
    const found = violations(
      ({ file }) => domainOf(file) !== undefined,
      (imported, file) => {
        if (VOCABULARY.includes(imported) || imported.startsWith('src/platform/')) return true;
        const other = domainOf(imported);
        if (other === undefined) return false;
        if (other === domainOf(file)) return true;
        // `<x>.ts`, and the pure rules beside it.
        return new RegExp(`^src/${other}/(${other}|[a-z-]+-state)\\.ts$`).test(imported);
      },
    );
    // Data tables of Unicode, generated from their own version and no part of the contract.
    expect(found).toEqual([
      'src/names/names.ts -> generated/case-folding.ts',
      'src/names/names.ts -> generated/lookalikes.ts',
      'src/names/names.ts -> generated/name-characters.ts',
    ]);
  });

  test('a store belongs to its domain, and knows only itself and the platform', () => {
    const stores = sources.map(({ file }) => file).filter((file) => file.endsWith('-store.ts'));
    expect(stores.length).toBeGreaterThan(5);
    expect(
      violations(
        () => true,
        (imported, file) => !imported.endsWith('-store.ts') || domainOf(imported) === domainOf(file),
      ),
    ).toEqual([]);
    const found = violations(
      ({ file }) => file.endsWith('-store.ts'),
      (imported, file) =>
        imported.startsWith('src/platform/') ||
        (domainOf(imported) !== undefined && imported.endsWith('-state.ts')) ||
        // The form of rows that several stores of the domain read.
        (domainOf(imported) === domainOf(file) && imported.endsWith('-row.ts')),
    );
    expect(found).toEqual([]);
  });

  test('pure rules know nothing but other pure rules', () => {
    const found = violations(
      ({ file }) => file.endsWith('-state.ts'),
      (imported) => imported.endsWith('-state.ts'),
    );
    expect(found).toEqual([]);
    const packages = sources
      .filter(({ file }) => file.endsWith('-state.ts'))
      .flatMap(({ imports }) => imports);
    expect(packages.filter((name) => !inRepository(name))).toEqual([]);
  });

  test('no domain knows another one in a circle', () => {
    const edges = new Map<string, Set<string>>();
    for (const { file, imports } of sources) {
      const from = domainOf(file);
      if (from === undefined) continue;
      const to = imports.map(domainOf).filter((domain) => domain !== undefined && domain !== from);
      edges.set(from, new Set([...(edges.get(from) ?? []), ...(to as string[])]));
    }
    const circles: string[] = [];
    const walk = (path: readonly string[]): void => {
      for (const next of edges.get(path.at(-1)!) ?? []) {
        if (path.includes(next)) circles.push([...path.slice(path.indexOf(next)), next].join(' -> '));
        else walk([...path, next]);
      }
    };
    for (const domain of edges.keys()) walk([domain]);
    expect([...new Set(circles)]).toEqual([]);
  });

  test('handlers know the contract, the services and what they give', () => {
    const found = violations(
      ({ file }) => file.startsWith('handlers/'),
      (imported) => {
        const domain = domainOf(imported);
        return (
          imported.startsWith('handlers/') ||
          imported === 'generated/types.ts' ||
          imported === 'src/services.ts' ||
          (domain !== undefined && imported === `src/${domain}/${domain}.ts`)
        );
      },
    );
    expect(found).toEqual([]);
  });

  test('handlers take types from the domain, never code: they get services handed in', () => {
    const importsOfCode = /import (?!type )[^;]*from '(\.\.\/)+src\//;
    expect(filesWith(importsOfCode).filter(within('handlers/'))).toEqual([]);
  });

  test('http knows handlers, services and the contract, and no domain', () => {
    const found = violations(
      ({ file }) => file.startsWith('src/http/'),
      (imported) =>
        imported === 'src/services.ts' ||
        VOCABULARY.includes(imported) ||
        ['src/http/', 'src/platform/', 'handlers/', 'generated/'].some((folder) =>
          imported.startsWith(folder),
        ),
    );
    expect(found).toEqual([]);
  });

  test('the demo plays on the services', () => {
    const found = violations(
      ({ file }) => file.startsWith('src/demo/'),
      (imported) =>
        imported === 'src/services.ts' ||
        imported === 'src/platform/database/advisory-lock.ts' ||
        imported === 'src/platform/random.ts' ||
        imported.startsWith('src/demo/'),
    );
    expect(found).toEqual([]);
  });

  test('the entry points open, start and show; only compose sees everything', () => {
    const found = violations(
      ({ file }) => /^src\/[^/]+\.ts$/.test(file) && !['src/compose.ts', 'src/services.ts'].includes(file),
      (imported) =>
        STARTERS.includes(imported) ||
        ['src/services.ts', 'src/migrations/index.ts', 'src/http/drain.ts'].includes(imported) ||
        ['src/platform/', 'src/demo/'].some((folder) => imported.startsWith(folder)),
    );
    expect(found).toEqual([]);
    const importersOfCompose = sources.filter(({ imports }) => imports.includes('src/compose.ts'));
    expect(importersOfCompose.map(({ file }) => file)).toEqual(['src/service.ts']);
  });

  test('the groups of compose see domains and the platform, and are seen by compose alone', () => {
    const found = violations(
      ({ file }) => file.startsWith('src/compose/'),
      (imported) =>
        domainOf(imported) !== undefined ||
        ['src/config.ts', 'src/migrations/index.ts'].includes(imported) ||
        ['src/compose/', 'src/platform/'].some((folder) => imported.startsWith(folder)),
    );
    expect(found).toEqual([]);
    const importers = sources.filter(({ imports }) => imports.some(within('src/compose/')));
    expect(importers.map(({ file }) => file).filter((file) => !within('src/compose/')(file))).toEqual([
      'src/compose.ts',
    ]);
  });

  test('services are constructed by compose and its groups', () => {
    const construction = /^import (?!type )[^;]*\bcreate[A-Z][^;]* from '(?:\.\.?\/)+([a-z-]+)\/\1\.ts';/gm;
    const constructors = sources.filter(({ code }) =>
      [...code.matchAll(construction)].some(([, domain]) => domainOf(`src/${domain}/`) !== undefined),
    );
    expect(constructors.length).toBeGreaterThan(4);
    const others = constructors
      .map(({ file }) => file)
      .filter((file) => !/^src\/compose(\.ts|\/)/.test(file));
    expect(others).toEqual([]);
  });

  test('services are named, not constructed, in services.ts', () => {
    const { code, imports } = sources.find(({ file }) => file === 'src/services.ts')!;
    expect(code).not.toMatch(/import (?!type )/);
    expect(imports.every((imported) => domainOf(imported) !== undefined)).toBe(true);
  });

  test('nobody imports an entry point, or anything outside the product', () => {
    const found = violations(
      () => true,
      (imported) => !ENTRIES.includes(imported) && /^(src|handlers|generated)\//.test(imported),
    );
    expect(found).toEqual([]);
  });

  test('only http, handlers and compose know what is generated', () => {
    const importers = sources.filter(({ imports }) =>
      imports.some((imported) => imported.startsWith('generated/')),
    );
    const others = importers.map(({ file }) => file).filter((file) => !/^(handlers|src\/http)\//.test(file));
    expect(others).toEqual(['src/names/names.ts']);
    expect(filesWith(/generated\/openapi\.json/)).toEqual(['src/compose.ts']);
  });
});

describe('packages stay where they belong', () => {
  test.each([
    ['express', /^src\/http\//],
    ['openapi-backend', /^src\/(http\/|compose\.ts)/],
    ['negotiator', /^src\/http\//],
    ['raw-body', /^src\/http\//],
    ['ajv', /^src\/http\//],
    // What a verification and a health check wait for are statements on a pool of their own.
    [
      'pg',
      /^src\/(platform\/database\/|sessions\/session-(lookup|facts-store)\.ts|cluster\/(cluster|node-store)\.ts|events\/(events|outbox-store)\.ts)/,
    ],
    ['jose', /^src\/(tokens\/|signing-keys\/|agents\/(assertions|foreign-keys)\.ts)/],
    ['@node-rs/argon2', /^src\/passwords\//],
    ['@node-rs/bcrypt', /^src\/passwords\//],
    ['pino', /^src\/platform\//],
    ['zod', /^src\/(config|settings|setting-values)\.ts/],
    ['semver', /^src\/applications\//],
    ['typeid-js', /^src\/platform\/ids\.ts/],
    ['rate-limiter-flexible', /^src\/limits\//],
    ['canonicalize', /^src\/(signatures\/signed-text|machine-payments\/challenge)\.ts/],
    ['proxy-addr', /^src\/http\/client-address\.ts/],
    ['ipaddr.js', /^src\/platform\/(address\.ts|anonymous-networks\/cidr-list\.ts)/],
    ['maxmind', /^src\/platform\/anonymous-networks\/maxmind\.ts/],
    ['prom-client', /^src\/metrics\//],
    ['csv-parse', /^src\/tables\/csv\.ts/],
    ['csv-stringify/sync', /^src\/tables\/csv\.ts/],
    ['pg-boss', /^src\/platform\/jobs\//],
    ['standardwebhooks', /^src\/webhooks\/signing\.ts/],
    ['aedes', /^src\/platform\/(broker\/embedded|mqtt\/index)\.ts/],
    ['mqtt-packet', /^src\/platform\/mqtt\/connection\.ts/],
    ['ws', /^src\/http\/mqtt-upgrade\.ts/],
    ['mqtt', /^src\/platform\/broker\/connection\.ts/],
    ['@aws-sdk/client-s3', /^src\/platform\/blobs\/server\.ts/],
    ['@aws-sdk/lib-storage', /^src\/platform\/blobs\/server\.ts/],
    ['range-parser', /^src\/files\/selection\.ts/],
    ['stripe', /^src\/platform\/payments\/stripe\//],
    ['@modelcontextprotocol/sdk/types.js', /^src\/http\/mcp\//],
    ['@modelcontextprotocol/sdk/server/index.js', /^src\/http\/mcp\/server\.ts/],
    ['oidc-provider', /^src\/oauth\//],
    ['content-disposition', /^handlers\/files\/content\.ts/],
  ])('%s', (name, places) => {
    const importers = sources.filter(({ imports }) => imports.includes(name)).map(({ file }) => file);
    expect(importers.length).toBeGreaterThan(0);
    expect(importers.filter((file) => !places.test(file))).toEqual([]);
  });

  test('knex makes transactions in domains and SQL in stores', () => {
    const sql = filesWith(/\b(raw|query)(<[^(]*>)?\(|\b(trx|db|knex)(<\w+>)?\(['a-z]/);
    const allowed = /-store\.ts$|^src\/platform\/database\/|^src\/migrations\//;
    expect(sql.filter((file) => !allowed.test(file))).toEqual([]);
  });
});

describe('time, randomness and environment are parameters', () => {
  test('the environment is read by config, from what the entry points hand over', () => {
    expect(filesWith(/process\.env\b/)).toEqual([...ENTRIES].sort());
    for (const entry of ENTRIES) {
      const { code } = sources.find(({ file }) => file === entry)!;
      expect(code.match(/process\.env\b.*/g)).toEqual(['process.env);']);
      expect(code).toContain('loadConfig(process.env)');
    }
    expect(filesWith(/loadEnvFile|import\.meta\.env|\benv\s*\[/)).toEqual([]);
  });

  test('the time is asked of the clock', () => {
    const asked =
      /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|performance\.now|process\.hrtime|Temporal\.Now/;
    expect(filesWith(asked)).toEqual([
      // How long draining may take: nothing that a client sees depends on it.
      'src/http/drain.ts',
      // How fast uploads come, likewise.
      'src/http/upload-pace.ts',
      // How long requests take.
      'src/metrics/metrics.ts',
      // How the library of the authorization server measures.
      'src/oauth/library-clock.ts',
      // The clock itself.
      'src/platform/clock.ts',
      // How long PostgreSQL may take to start.
      'src/platform/database/embedded-supervisor.ts',
      // How long the database was gone, for the log.
      'src/platform/database/pool.ts',
      // How long a piece of work holds the event loop.
      'src/platform/pace.ts',
      // How long a request has taken.
      'src/platform/request-scope.ts',
    ]);
  });

  test('randomness is asked of its source', () => {
    const asked = /Math\.random|randomBytes|randomUUID|randomInt|randomFill|getRandomValues|generateKey/;
    expect(filesWith(asked)).toEqual([
      // Node makes key pairs with its own randomness only.
      'src/keys/keys.ts',
      // The embedded PostgreSQL: its password and the name of a draft folder.
      'src/platform/database/embedded-address.ts',
      'src/platform/database/embedded-cluster.ts',
      // The source itself.
      'src/platform/random.ts',
      'src/signing-keys/signing-keys.ts',
    ]);
  });

  test('nobody else makes the sources', () => {
    expect(filesWith(/\bsystemClock\b/)).toEqual(['src/platform/clock.ts', 'src/service.ts']);
    // The entry points hand it to the demo, which is made after the services.
    expect(filesWith(/\bsystemRandom\b/)).toEqual([
      'src/platform/random.ts',
      'src/seed.ts',
      'src/serve.ts',
      'src/service.ts',
    ]);
  });

  test('nothing is printed but by the entry points', () => {
    expect(filesWith(/\bconsole\./)).toEqual([]);
    expect(filesWith(/process\.(stdout|stderr)/)).toEqual([
      'src/command.ts',
      'src/main.ts',
      'src/migrate.ts',
      'src/restored.ts',
      'src/seed.ts',
    ]);
  });
});
