/** Files of ours whose expressions are checked. */
export const OWN = ['src/**/*.ts', 'handlers/**/*.ts', 'generated/*.{js,ts}', 'docs/clients/typescript/*.ts'];

/** Modules of dependencies that read what a request holds, below node_modules. */
export const REACHED = [
  '@modelcontextprotocol/sdk/dist/esm/server/*.js',
  '@modelcontextprotocol/sdk/dist/esm/shared/{protocol,toolNameValidation,transport,uriTemplate}.js',
  'accepts/index.js',
  'aedes/lib/**/*.js',
  'ajv-formats/dist/formats.js',
  'body-parser/**/*.js',
  'content-disposition/dist/*.js',
  'content-type/dist/*.js',
  'cookie/index.js',
  'cookies/index.js',
  'csv-parse/lib/**/*.js',
  'encodeurl/index.js',
  'express/lib/*.js',
  'fast-uri/index.js',
  'finalhandler/index.js',
  'forwarded/index.js',
  'fresh/index.js',
  'ipaddr.js/lib/ipaddr.js',
  'jose/dist/webapi/**/*.js',
  'koa/lib/*.js',
  'media-typer/index.js',
  'mime-types/index.js',
  'mmdb-lib/lib/*.js',
  'mqtt-packet/*.js',
  'negotiator/**/*.js',
  'nodemailer/dist/esm/{addressparser,mime-funcs,mime-node}/*.js',
  'oidc-provider/lib/**/*.js',
  'openapi-backend/*.js',
  'parseurl/index.js',
  'proxy-addr/index.js',
  'qs/lib/*.js',
  'range-parser/index.js',
  'raw-body/**/*.js',
  'router/index.js',
  'router/lib/*.js',
  'semver/{classes/semver,functions/parse}.js',
  'standardwebhooks/dist/*.js',
  'type-is/index.js',
  'typeid-js/dist/*.js',
  'uuid/dist-node/*.js',
  'uuid/dist/*.js',
  'ws/lib/*.js',
  'zod/v4/core/{checks,parse,regexes,schemas}.js',
];

/** A module that builds expressions as it loads: what it builds is checked, or only what the service uses of it. */
export interface Loaded {
  /** Below node_modules. */
  readonly file: string;
  readonly used?: (exports: any) => readonly RegExp[];
}

export const LOADED: readonly Loaded[] = [
  { file: 'ipaddr.js/lib/ipaddr.js' },
  { file: 'mmdb-lib/lib/ip.js' },
  // Those of ranges and loose versions are far from linear; the service parses strict versions alone.
  { file: 'semver/internal/re.js', used: ({ safeRe, t }) => [safeRe[t.FULL]] },
  { file: 'zod/v4/core/regexes.js' },
];
