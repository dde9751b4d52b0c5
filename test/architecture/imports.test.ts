import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { filesWith, sources, type Source } from './sources.ts';

/** The entry points: they pass the environment, open and start. */
const ENTRIES = [
  'src/main.ts',
  'src/app/commands/migrate.ts',
  'src/app/commands/restored.ts',
  'src/app/commands/seed.ts',
];

/** Its text has examples of the reference, which programs of others run. */
const EXAMPLE = 'src/http/pages/reference/samples/typescript.ts';

/** The neighborhoods of `src`, each of which imports itself and those before it. */
const NEIGHBORHOODS = [
  'platform',
  'config',
  'foundation',
  'accounts',
  'licensing',
  'commerce',
  'messaging',
  'access',
  'http',
  'app',
];
/** Neighborhoods of domains, with a folder for each. */
const DOMAINS = ['foundation', 'accounts', 'licensing', 'commerce', 'messaging', 'access'];
/** The layers of `src/http`, in the same order. */
const HTTP_LAYERS = ['transport', 'contract', 'pages', 'mcp', 'server'];
/** The vocabulary of all layers, without code of any layer. */
const VOCABULARY = [
  'src/foundation/errors/api-error.ts',
  'src/foundation/errors/catalog.ts',
  'src/foundation/client-trust/client-trust.ts',
  'src/foundation/paging/page.ts',
];

/** The neighborhood of a file of `src`. */
function neighborhoodOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1];
}

/** The domain of a file in `src/<neighborhood>/<domain>/`, as `<neighborhood>/<domain>`. */
function domainOf(file: string): string | undefined {
  const [, neighborhood, domain] = /^src\/([^/]+)\/([^/]+)\//.exec(file) ?? [];
  if (!DOMAINS.includes(neighborhood ?? '') || ['client-trust', 'errors', 'paging'].includes(domain!))
    return undefined;
  return `${neighborhood}/${domain}`;
}

/** The name of a domain's folder and of its main file. */
const nameOf = (domain: string) => domain.split('/')[1]!;

const within = (folder: string) => (file: string) => file.startsWith(folder);
const inRepository = (name: string) => /^(src|handlers|generated|test|tools|dashboard|bench)\//.test(name);

/** Forbidden imports: `importer -> imported`. */
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
  test('there are files', () => {
    expect(sources.length).toBeGreaterThan(60);
    expect(new Set(sources.map(({ file }) => domainOf(file)).filter(Boolean)).size).toBeGreaterThan(8);
    expect(sources.find(({ file }) => file === 'src/licensing/users/users.ts')!.imports).toContain(
      'src/licensing/users/user-store.ts',
    );
  });

  test('the root of src contains an entry point, the names of the services, and the ordered folders', () => {
    const atRoot = sources.map(({ file }) => file).filter((file) => /^src\/[^/]+$/.test(file));
    expect(atRoot).toEqual(['src/main.ts', 'src/services.ts']);
    const folders = new Set(sources.map(({ file }) => neighborhoodOf(file)).filter(Boolean));
    expect([...folders].sort()).toEqual([...NEIGHBORHOODS, 'migrations'].sort());
  });

  test('a neighborhood imports itself and those below it', () => {
    const found = violations(
      ({ file }) => NEIGHBORHOODS.includes(neighborhoodOf(file) ?? ''),
      (imported, file) => {
        const [own, other] = [neighborhoodOf(file)!, neighborhoodOf(imported)];
        // The registry of handlers, the names of the services, generated files and migrations have their own tests.
        if (other === undefined || other === 'migrations') return true;
        return NEIGHBORHOODS.indexOf(other) <= NEIGHBORHOODS.indexOf(own);
      },
    );
    expect(found).toEqual([]);
  });

  test('platform and config import nothing else', () => {
    const found = violations(
      ({ file }) => /^src\/(platform|config)\//.test(file),
      (imported, file) =>
        within('src/platform/')(imported) || (within('src/config/')(file) && within('src/config/')(imported)),
    );
    expect(found).toEqual([]);
  });

  test('the vocabulary of errors and pages imports only itself', () => {
    const found = violations(
      ({ file }) => /^src\/foundation\/(errors|paging)\//.test(file),
      (imported) => VOCABULARY.includes(imported),
    );
    expect(found).toEqual([]);
  });

  test('migrations import only each other', () => {
    expect(violations(({ file }) => file.startsWith('src/migrations/'), within('src/migrations/'))).toEqual(
      [],
    );
  });

  test('a domain imports itself, the platform, and the main files of other domains', () => {
    const found = violations(
      ({ file }) => domainOf(file) !== undefined,
      (imported, file) => {
        if (VOCABULARY.includes(imported) || imported.startsWith('src/platform/')) return true;
        const other = domainOf(imported);
        if (other === undefined) return false;
        if (other === domainOf(file)) return true;
        // `<x>.ts`, and the pure rules next to it.
        return new RegExp(`^src/${other}/(${nameOf(other)}|[a-z-]+-state)\\.ts$`).test(imported);
      },
    );
    // Tables of Unicode data, generated from a Unicode version and not from the contract.
    expect(found).toEqual([
      'src/foundation/names/names.ts -> generated/case-folding.ts',
      'src/foundation/names/names.ts -> generated/lookalikes.ts',
      'src/foundation/names/names.ts -> generated/name-characters.ts',
    ]);
  });

  test('a store belongs to its domain, and imports only itself and the platform', () => {
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
        // The type of rows that several stores of the domain read, and conditions.
        (domainOf(imported) === domainOf(file) && /-(row|sql)\.ts$/.test(imported)),
    );
    expect(found).toEqual([]);
  });

  test('pure rules import only other pure rules', () => {
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

  test('domains do not import each other in a cycle', () => {
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

  test('handlers import the contract, the services and their types', () => {
    const found = violations(
      ({ file }) => file.startsWith('handlers/'),
      (imported) => {
        const domain = domainOf(imported);
        return (
          imported.startsWith('handlers/') ||
          imported === 'generated/types.ts' ||
          imported === 'src/services.ts' ||
          imported === 'src/foundation/client-trust/client-trust.ts' ||
          (domain !== undefined && imported === `src/${domain}/${nameOf(domain)}.ts`)
        );
      },
    );
    expect(found).toEqual([]);
  });

  test('handlers import types from domains, never code, because services are passed to them', () => {
    const importsOfCode = /import (?!type )[^;]*from '(\.\.\/)+src\//;
    expect(filesWith(importsOfCode).filter(within('handlers/'))).toEqual([]);
  });

  test('http imports handlers, services and the contract, and no domain', () => {
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

  test('a layer of http imports itself and those below it', () => {
    const layerOf = (file: string) => HTTP_LAYERS.indexOf(/^src\/http\/([^/]+)\//.exec(file)?.[1] ?? '');
    const files = sources.map(({ file }) => file).filter(within('src/http/'));
    expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
    const found = violations(
      ({ file }) => within('src/http/')(file),
      (imported, file) => layerOf(imported) <= layerOf(file),
    );
    expect(found).toEqual([]);
  });

  test('the demo uses the services', () => {
    const found = violations(
      ({ file }) => file.startsWith('src/app/demo/'),
      (imported) =>
        imported === 'src/services.ts' ||
        imported === 'src/platform/database/advisory-lock.ts' ||
        imported === 'src/platform/random.ts' ||
        imported.startsWith('src/app/demo/'),
    );
    expect(found).toEqual([]);
  });

  test('the entry points open, start and print, and only compose imports everything', () => {
    const found = violations(
      ({ file }) => file === 'src/main.ts' || /^src\/app\/([^/]+\.ts|commands\/)/.test(file),
      (imported) =>
        ['src/services.ts', 'src/migrations/index.ts', 'src/http/server/drain.ts'].includes(imported) ||
        ['src/platform/', 'src/config/', 'src/app/'].some((folder) => imported.startsWith(folder)),
    );
    expect(found).toEqual([]);
    const importersOfCompose = sources.filter(({ imports }) =>
      imports.includes('src/app/compose/compose.ts'),
    );
    expect(importersOfCompose.map(({ file }) => file)).toEqual(['src/app/service.ts']);
  });

  test('compose has a group for each neighborhood of domains, which only it imports', () => {
    const groups = sources.map(({ file }) => file).filter(within('src/app/compose/'));
    expect(groups).toEqual(['compose', ...DOMAINS].sort().map((name) => `src/app/compose/${name}.ts`));
    const found = violations(
      ({ file }) => groups.includes(file) && file !== 'src/app/compose/compose.ts',
      (imported, file) => {
        const domain = domainOf(imported);
        const last = DOMAINS.indexOf(/(\w+)\.ts$/.exec(file)![1]!);
        if (domain !== undefined) return DOMAINS.indexOf(neighborhoodOf(imported)!) <= last;
        return (
          ['src/config/config.ts', 'src/migrations/index.ts'].includes(imported) ||
          ['src/app/compose/', 'src/platform/'].some((folder) => imported.startsWith(folder))
        );
      },
    );
    expect(found).toEqual([]);
    const importers = sources.filter(({ imports }) => imports.some(within('src/app/compose/')));
    expect(importers.map(({ file }) => file).filter((file) => !within('src/app/compose/')(file))).toEqual([
      'src/app/service.ts',
    ]);
  });

  test('services are constructed by compose and its groups', () => {
    const construction =
      /^import (?!type )[^;]*\bcreate[A-Z][^;]* from '(?:\.\.?\/)+([a-z-]+\/[a-z-]+)\/(?:[a-z-]+\/)?[a-z-]+\.ts';/gm;
    const constructors = sources.filter(({ code, file }) =>
      [...code.matchAll(construction)].some(
        ([, domain]) => domainOf(`src/${domain}/`) !== undefined && domain !== domainOf(file),
      ),
    );
    expect(constructors.length).toBeGreaterThan(4);
    expect(constructors.map(({ file }) => file).filter((file) => !within('src/app/compose/')(file))).toEqual(
      [],
    );
  });

  test('services are named, not constructed, in services.ts', () => {
    const { code, imports } = sources.find(({ file }) => file === 'src/services.ts')!;
    expect(code).not.toMatch(/import (?!type )/);
    expect(imports.every((imported) => domainOf(imported) !== undefined)).toBe(true);
  });

  test('no file imports an entry point, or anything outside the product', () => {
    const found = violations(
      () => true,
      (imported) => !ENTRIES.includes(imported) && /^(src|handlers|generated)\//.test(imported),
    );
    expect(found).toEqual([]);
  });

  test('only http, handlers and compose import generated files', () => {
    const importers = sources.filter(({ imports }) =>
      imports.some((imported) => imported.startsWith('generated/')),
    );
    const others = importers.map(({ file }) => file).filter((file) => !/^(handlers|src\/http)\//.test(file));
    expect(others).toEqual(['src/foundation/names/names.ts']);
    expect(filesWith(/generated\/openapi\.json/)).toEqual(['src/app/compose/compose.ts']);
  });
});

describe('packages are imported only where they belong', () => {
  test.each([
    ['express', /^src\/http\//],
    ['openapi-backend', /^src\/(http\/|app\/compose\/compose\.ts)/],
    ['negotiator', /^src\/http\//],
    ['raw-body', /^src\/http\//],
    ['ajv', /^src\/http\//],
    // Verifications and health checks use statements on a separate pool.
    [
      'pg',
      /^src\/(platform\/database\/|accounts\/application-keys\/|licensing\/(sessions\/session-(lookup|facts-store)\.ts|devices\/)|foundation\/(cluster\/(cluster|node-store)|events\/(events|outbox-store))\.ts)/,
    ],
    ['jose', /^src\/(foundation\/(tokens|signing-keys)\/|access\/agents\/(assertions|issuer-keys)\.ts)/],
    ['@node-rs/argon2', /^src\/foundation\/passwords\//],
    ['@node-rs/bcrypt', /^src\/foundation\/passwords\//],
    ['pino', /^src\/platform\//],
    ['zod', /^src\/config\//],
    ['semver', /^src\/accounts\/applications\//],
    ['typeid-js', /^src\/platform\/ids\.ts/],
    ['rate-limiter-flexible', /^src\/foundation\/limits\//],
    ['canonicalize', /^src\/(accounts\/signatures\/signed-text|commerce\/machine-payments\/challenge)\.ts/],
    ['proxy-addr', /^src\/http\/server\/client-address\.ts/],
    ['ipaddr.js', /^src\/platform\/(address\.ts|anonymous-networks\/cidr-list\.ts)/],
    ['maxmind', /^src\/platform\/anonymous-networks\/maxmind\.ts/],
    ['prom-client', /^src\/foundation\/metrics\//],
    ['csv-parse', /^src\/foundation\/tabular-data\/csv\.ts/],
    ['csv-stringify/sync', /^src\/foundation\/tabular-data\/csv\.ts/],
    ['pg-boss', /^src\/platform\/jobs\//],
    ['standardwebhooks', /^src\/messaging\/webhooks\/signing\.ts/],
    ['aedes', /^src\/platform\/(broker\/embedded|mqtt\/index)\.ts/],
    ['mqtt-packet', /^src\/platform\/mqtt\/connection\.ts/],
    ['ws', /^src\/http\/server\/mqtt-upgrade\.ts/],
    ['mqtt', /^src\/platform\/broker\/connection\.ts/],
    ['@aws-sdk/client-s3', /^src\/platform\/blobs\/server\.ts/],
    ['@aws-sdk/lib-storage', /^src\/platform\/blobs\/server\.ts/],
    ['range-parser', /^src\/licensing\/files\/selection\.ts/],
    ['stripe', /^src\/platform\/payments\/stripe\//],
    ['@modelcontextprotocol/sdk/types.js', /^src\/http\/mcp\//],
    ['@modelcontextprotocol/sdk/server/index.js', /^src\/http\/mcp\/server\.ts/],
    ['oidc-provider', /^src\/access\/oauth\//],
    ['content-disposition', /^handlers\/files\/content\.ts/],
  ])('%s', (name, places) => {
    const importers = sources.filter(({ imports }) => imports.includes(name)).map(({ file }) => file);
    expect(importers.length).toBeGreaterThan(0);
    expect(importers.filter((file) => !places.test(file))).toEqual([]);
  });

  test('knex is for transactions in domains and for SQL in stores', () => {
    const sql = filesWith(/\b(raw|query)(<[^(]*>)?\(|\b(trx|db|knex)(<\w+>)?\(['a-z]/);
    const allowed = /-(store|sql)\.ts$|^src\/platform\/database\/|^src\/migrations\//;
    expect(sql.filter((file) => !allowed.test(file))).toEqual([]);
  });
});

describe('time, randomness and environment are parameters', () => {
  test('config reads the environment, which the entry points pass to it', () => {
    expect(filesWith(/process\.env\b/)).toEqual([...ENTRIES, EXAMPLE].sort());
    for (const entry of ENTRIES) {
      const { code } = sources.find(({ file }) => file === entry)!;
      expect(code.match(/process\.env\b.*/g)).toEqual(['process.env);']);
      expect(code).toContain('loadConfig(process.env)');
    }
    expect(filesWith(/loadEnvFile|import\.meta\.env|\benv\s*\[/)).toEqual([]);
  });

  test('the clock provides the time', () => {
    const requested =
      /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|performance\.now|process\.hrtime|Temporal\.Now/;
    expect(filesWith(requested)).toEqual([
      // The time by which oidc-provider measures.
      'src/access/oauth/provider-clock.ts',
      // The duration of requests.
      'src/foundation/metrics/metrics.ts',
      EXAMPLE,
      // The duration of draining, which clients cannot observe.
      'src/http/server/drain.ts',
      // The speed of uploads, likewise.
      'src/http/transport/upload-pace.ts',
      // The clock itself.
      'src/platform/clock.ts',
      // The time for which work blocks the event loop.
      'src/platform/cooperative-yield.ts',
      // The time that PostgreSQL needs to start.
      'src/platform/database/embedded-supervisor.ts',
      // The time for which the database was unavailable, for the log.
      'src/platform/database/pool.ts',
      // The duration of a request.
      'src/platform/request-scope.ts',
    ]);
  });

  test('the random source provides randomness', () => {
    const requested = /Math\.random|randomBytes|randomUUID|randomInt|randomFill|getRandomValues|generateKey/;
    expect(filesWith(requested)).toEqual([
      // Node.js generates key pairs with its own randomness only.
      'src/foundation/installation-keys/installation-keys.ts',
      'src/foundation/signing-keys/signing-keys.ts',
      // The embedded PostgreSQL: its password, and the name of a temporary folder.
      'src/platform/database/embedded-address.ts',
      'src/platform/database/embedded-cluster.ts',
      // The source itself.
      'src/platform/random.ts',
    ]);
  });

  test('only the entry points create the sources', () => {
    expect(filesWith(/\bsystemClock\b/)).toEqual(['src/app/service.ts', 'src/platform/clock.ts']);
    // The entry points pass it to the demo, which is created after the services.
    expect(filesWith(/\bsystemRandom\b/)).toEqual([
      'src/app/commands/seed.ts',
      'src/app/serve.ts',
      'src/app/service.ts',
      'src/platform/random.ts',
    ]);
  });

  test('only the entry points print', () => {
    expect(filesWith(/\bconsole\./)).toEqual([EXAMPLE]);
    expect(filesWith(/process\.(stdout|stderr)/)).toEqual([
      'src/app/commands/command.ts',
      'src/app/commands/migrate.ts',
      'src/app/commands/restored.ts',
      'src/app/commands/seed.ts',
      'src/main.ts',
    ]);
  });
});

test('npm ci --omit=dev installs every package that the service imports', () => {
  const { dependencies } = manifest;
  const packages = sources
    .flatMap(({ imports }) => imports)
    .filter((name) => !/^(node:|vendor\/)/.test(name));
  const names = packages.filter((name) => !inRepository(name)).map(packageOf);
  expect(new Set(names).size).toBeGreaterThan(25);
  expect([...new Set(names)].filter((name) => !(name in dependencies))).toEqual([]);
});

/** The package of a module, such as `@scope/name` of `@scope/name/part`. */
const packageOf = (module: string) =>
  module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/');
