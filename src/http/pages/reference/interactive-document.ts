import { catalog, errorSlug, type CatalogEntry, type ErrorCode } from '../../../foundation/errors/catalog.ts';
import { mediaOf, type Document, type Located, type Operation } from './document.ts';
import { samplesOf } from './samples/samples.ts';
import { sampleRequest } from './samples/request.ts';

/** What the interactive reference is made of. */
interface Source {
  readonly document: Document;
  readonly operations: ReadonlyMap<string, Located>;
  /** Where the examples send their requests. */
  readonly baseUrl: string;
  /** The path of `{web_url}`, to which the page sends its requests. */
  readonly root: string;
}

/** The form's field for an application's secret. The page computes the signature, and does not send the secret. */
const SECRET_SCHEME = {
  ApplicationSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'x-application-secret',
    description:
      "The application's secret. It stays in this page, which uses it to set `x-signature`, `x-timestamp`, " +
      '`x-signature-version: 2`, and a new `nonce` in the body.',
  },
};

const TRYING = `
To send a request from this page, paste a token under Authentication. Without a token, requests to operations of
developers, resellers, and the administrator use your session of the [dashboard](ROOT/dashboard), if you are signed in.
Requests change real data. The page replaces the \`Idempotency-Key\` of an example with a new key.

The [guides](ROOT/guides) lead through one subject each. Every operation also has a [plain page](ROOT/docs/operations).
`;

/** The contract with examples in every language, the errors of each operation, and what requests need. */
export function interactiveDocument({ document, operations, baseUrl, root }: Source): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const located of operations.values()) {
    const { path, method, operation } = located;
    const item = (paths[path] ??= { ...pathParameters(document, path) });
    item[method.toLowerCase()] = {
      ...operation,
      description: [operation.description, errorsOf(operation, root), plainLink(operation, root)].join(
        '\n\n',
      ),
      ...(operation['x-signature'] && { security: securityOf(operation) }),
      'x-codeSamples': samplesOf(
        sampleRequest(located, mediaOf(document, operation.requestBody?.content), baseUrl),
      ),
    };
  }
  const { info, components, tags } = document;
  return {
    ...document,
    info: { ...info, description: (info?.description ?? '') + TRYING.replaceAll('ROOT', root) },
    security: [{ BearerToken: [] }, { ApplicationSecret: [] }],
    servers: [{ url: root === '' ? '/' : root }],
    paths,
    tags: [...(tags ?? []), errorCodes(root)],
    components: {
      ...components,
      securitySchemes: { ...components?.securitySchemes, ...SECRET_SCHEME },
    },
  };
}

function pathParameters(document: Document, path: string): object {
  const { parameters } =
    ((document.paths ?? {}) as Record<string, { readonly parameters?: unknown }>)[path] ?? {};
  return parameters === undefined ? {} : { parameters };
}

function securityOf({ 'x-signature': signature }: Operation): object[] {
  return signature === 'required' ? [{ ApplicationSecret: [] }] : [{ ApplicationSecret: [] }, {}];
}

function plainLink({ operationId }: Operation, root: string): string {
  return `[Plain page of \`${operationId}\`](${root}/docs/${operationId})`;
}

function errorsOf({ 'x-error-codes': codes = [] }: Operation, root: string): string {
  return codes.length === 0 ? '' : `**Errors**\n\n${errorTable(codes as ErrorCode[], root)}`;
}

function errorCodes(root: string): object {
  const codes = (Object.keys(catalog) as ErrorCode[]).toSorted();
  return {
    name: 'Error codes',
    description: `Every error code of the API.\n\n${errorTable(codes, root)}`,
    'x-traitTag': true,
  };
}

function errorTable(codes: readonly ErrorCode[], root: string): string {
  const rows = codes.map((code) => {
    const { statuses, detail }: CatalogEntry = catalog[code];
    const text = detail.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
    return `| ${statuses.join(', ')} | [\`${code}\`](${root}/errors/${errorSlug(code)}) | ${text} |`;
  });
  return ['| Status | Code | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
