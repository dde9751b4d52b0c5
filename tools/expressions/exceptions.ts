/** An expression of a dependency that is not linear, and what keeps long texts from it. */
export interface Exception {
  /** Below node_modules. */
  readonly file: string;
  readonly source: string;
  /** The longest text that reaches it, in characters; 0 where no text of a request does. */
  readonly longest: number;
  readonly because: string;
}

/** Exact: one that is no longer needed fails the check. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    file: '@modelcontextprotocol/sdk/dist/esm/shared/uriTemplate.js',
    source: String.raw`\{[^}\s]+\}`,
    longest: 0,
    because: 'reads the templates of resources; the server has none',
  },
  {
    file: 'ipaddr.js/lib/ipaddr.js',
    source: '%.+$',
    longest: 64,
    because: 'the contract limits addresses and networks, and sockets have short ones',
  },
  {
    file: 'mmdb-lib/lib/ip.js',
    source: String.raw`(\d+)\.(\d+)\.(\d+)\.(\d+)`,
    longest: 64,
    because: 'reads the canonical address of a client',
  },
  {
    file: 'nodemailer/dist/esm/mime-funcs/index.js',
    source: String.raw`(\s+)[^\s]*$`,
    longest: 998,
    because: 'folds one header line of a mail that the service wrote',
  },
  {
    file: 'nodemailer/dist/esm/addressparser/index.js',
    source: String.raw`^("(?:[^"\\]|\\[\s\S])*"@\S+)(?:\s+([\s\S]+))?$`,
    longest: 254,
    because: 'reads addresses that isMailAddress took',
  },
  {
    file: 'openapi-backend/router.js',
    source: String.raw`\{[^}]+\}`,
    longest: 0,
    because: 'reads the paths of the contract',
  },
  {
    file: 'openapi-backend/router.js',
    source: String.raw`\{.*?\}`,
    longest: 0,
    because: 'reads the paths of the contract',
  },
  {
    file: 'router/lib/layer.js',
    source: String.raw`\/+$`,
    longest: 0,
    because: 'reads the paths that the service registers',
  },
];

/** Expressions of ours that are built from values, by file and argument as written: why no input makes them slow. */
export const BUILT: Readonly<Record<string, string>> = {
  'src/foundation/paging/page.ts: `^${prefix}_[0-9a-z]{26}$`': 'a prefix of ours, then a fixed length',
  'src/licensing/licenses/license-key.ts: `.{${GROUP}}`': 'a constant, a fixed length',
};
