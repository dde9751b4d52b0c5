import type { ErrorCode } from '../../../foundation/errors/catalog.ts';
import { errorTable } from '../error-html.ts';
import { escape, page, table } from '../html.ts';
import { mediaOf, resolve, type Document, type Located } from './document.ts';
import { descriptionOf, fieldsOf, typeOf, type Field } from './fields.ts';
import { toHtml, toInlineHtml } from './markdown.ts';
import { sampleRequest, type Body } from './samples/request.ts';
import { samplesOf } from './samples/samples.ts';

/** What the pages of the reference are made of. */
export interface Reference {
  readonly document: Document;
  readonly operations: ReadonlyMap<string, Located>;
  readonly baseUrl: string;
  /** The path of `{web_url}`, which links begin with. */
  readonly root: string;
}

/** How a caller proves who it is, by `x-bearer-token`. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  developer: 'The bearer token of a developer, or of a client or an agent that acts for one',
  reseller: 'The bearer token of a reseller',
  administrator: 'The bearer token of the administrator',
  agent: 'The bearer token of an agent',
  session: 'The session token of a user',
};

/** The page with the list of all operations. */
export function referenceIndexPage(reference: Reference): string {
  return page('Operations', operationList(reference), { root: reference.root, current: 'reference' });
}

/** The list of all operations by tag, and what holds for all of them. */
export function operationList({ document, operations, root }: Reference): string {
  const byTag = Map.groupBy(operations.values(), ({ operation }) => operation.tags[0]);
  const traits = (document.tags ?? []).filter((tag) => tag['x-traitTag']);
  const sections = (document.tags ?? []).flatMap(({ name, description = '' }) => {
    const some = byTag.get(name);
    if (!some) return [];
    const rows = some.map(
      ({ operation: { operationId, summary }, method, path }) =>
        `<tr><td><a href="${root}/docs/${operationId}">${escape(summary)}</a></td>` +
        `<td><code>${method} ${escape(path)}</code></td></tr>`,
    );
    return [
      `<h2 id="${slugOf(name)}">${escape(name)}</h2>${toHtml(description)}
      ${table(['Operation', 'Request'], rows, name)}`,
    ];
  });
  const rules = traits.map(
    ({ name, description = '' }) => `<h2 id="${slugOf(name)}">${escape(name)}</h2>${toHtml(description)}`,
  );
  return `<h1>Operations</h1>
    <p>Every operation of the API, each with a plain page. The <a href="${root}/docs">interactive reference</a> sends
    requests. Programs read <a href="${root}/openapi.json">openapi.json</a>, and <a href="${root}/errors">errors</a>
    lists every error code.</p>${sections.join('')}${rules.join('')}`;
}

/** The page of one operation. */
export function operationPage(reference: Reference, located: Located): string {
  const { document, root, baseUrl } = reference;
  const { operation, method, path, parameters } = located;
  const body = mediaOf(document, operation.requestBody?.content);
  const [tag] = operation.tags;
  return page(
    operation.summary,
    `<p class="crumbs"><a href="${root}/docs/operations">Operations</a> /
    <a href="${root}/docs/operations#${slugOf(tag)}">${escape(tag)}</a></p>
    <h1>${escape(operation.summary)}</h1>
    <p class="request"><code><span class="method">${method}</span> ${escape(path)}</code>
    <a href="${root}/docs#tag/${slugOf(tag)}/${escape(operation.operationId)}" class="try">Try it</a></p>
    ${deprecationOf(operation, root)}${toHtml(operation.description ?? '')}
    <dl class="facts-list"><div><dt>Operation</dt><dd><code>${escape(operation.operationId)}</code></dd></div>${credentialOf(operation)}</dl>
    ${parametersOf(document, parameters)}
    ${bodyOf(document, body)}
    ${section('Examples', samplesHtml(located, body, baseUrl))}
    ${successesOf(document, operation)}
    ${errorsOf(operation, root)}`,
    { root, current: 'reference' },
  );
}

function bodyOf(document: Document, body: ReturnType<typeof mediaOf>): string {
  if (!body) return '';
  const fields = fieldTable(fieldsOf(document, body.schema), 'Members of the request body');
  return section('Request body', media(body.mediaType) + fields);
}

/** A request in each language, of which the first is open. Only one is open at a time. */
function samplesHtml(located: Located, body: Body | undefined, baseUrl: string): string {
  return samplesOf(sampleRequest(located, body, baseUrl))
    .map(
      ({ label, source }, index) =>
        `<details class="example" name="example"${index === 0 ? ' open' : ''}><summary>${escape(label)}</summary>${pre(source)}</details>`,
    )
    .join('');
}

function deprecationOf({ deprecated, 'x-successor': successor }: Located['operation'], root: string): string {
  if (!deprecated) return '';
  const instead = successor === undefined ? '' : ` Use <a href="${root}/docs/${successor}">${successor}</a>.`;
  return `<p><strong>Deprecated.</strong>${instead}</p>`;
}

function credentialOf(operation: Located['operation']): string {
  const { 'x-bearer-token': kind, 'x-scopes': scopes = [], security = [] } = operation;
  const credential = kind === undefined ? undefined : CREDENTIALS[kind];
  const isOptional = security.some((way) => Object.keys(way).length === 0);
  const text = credential ? `${credential}${isOptional ? ' (optional)' : ''}` : 'None';
  const listed = scopes.map((scope) => `<code>${escape(scope)}</code>`).join(' ');
  return (
    `<div><dt>Credential</dt><dd>${text}</dd></div>` +
    (listed && `<div><dt>Scope</dt><dd>${listed}</dd></div>`)
  );
}

function parametersOf(document: Document, parameters: Located['parameters']): string {
  const fields = parameters.map(({ name, required = false, schema, description }) => ({
    name,
    type: typeOf(document, schema),
    isRequired: required,
    description: descriptionOf({
      ...resolve(document, schema),
      ...(description !== undefined && { description }),
    }),
  }));
  const places = [
    ['path', 'Path parameters'],
    ['query', 'Query parameters'],
    ['header', 'Headers'],
  ] as const;
  return places
    .map(([place, title]) => {
      const some = fields.filter((_field, index) => parameters[index]!.in === place);
      return some.length === 0 ? '' : section(title, fieldTable(some, title));
    })
    .join('');
}

function successesOf(document: Document, { responses }: Located['operation']): string {
  return Object.entries(responses)
    .filter(([status]) => /^[23]\d\d$/.test(status))
    .map(([status, response]) => {
      const { description, content } = resolve(document, response);
      const found = mediaOf(document, content);
      const shown = found
        ? media(found.mediaType) +
          fieldTable(fieldsOf(document, found.schema), `Response ${status}`) +
          exampleOf(found.example)
        : '';
      return section(`Response ${status}`, toHtml(description) + shown);
    })
    .join('');
}

function exampleOf(example: unknown): string {
  if (example === undefined) return '';
  return pre(typeof example === 'string' ? example : JSON.stringify(example, undefined, 2));
}

function errorsOf({ 'x-error-codes': codes = [] }: Located['operation'], root: string): string {
  const own = codes.length === 0 ? '' : errorTable(codes as ErrorCode[], root);
  const general = `<p><a href="${root}/docs/operations#errors">Every operation</a> can also return the general
    errors.</p>`;
  return section('Errors', own + general);
}

function fieldTable(fields: readonly Field[], label: string): string {
  if (fields.length === 0) return '';
  const rows = fields.map(
    ({ name, type, isRequired, description }) =>
      `<tr><td><code>${escape(name)}</code>${isRequired ? '' : '<br><span class="soft">optional</span>'}</td>` +
      `<td>${escape(type)}</td><td>${toInlineHtml(description)}</td></tr>`,
  );
  return table(['Name', 'Type', 'Description'], rows, label);
}

const section = (title: string, content: string) => `<h2>${escape(title)}</h2>${content}`;
const media = (mediaType: string) => `<p><code>${escape(mediaType)}</code></p>`;
const pre = (text: string) => `<pre tabindex="0"><code>${escape(text)}</code></pre>`;
const slugOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
