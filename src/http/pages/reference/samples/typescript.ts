import { indent, lines, type HeaderValue, type SampleRequest } from './request.ts';

/** A program for Node, Deno and Bun. */
export function toTypeScript(request: SampleRequest): string {
  const { method, url, headers, body, isSigned } = request;
  return lines(
    isSigned && signing(request),
    `const response = await fetch(${quote(url)}, {`,
    `  method: ${quote(method)},`,
    headers.length > 0 && '  headers: {',
    ...headers.map(([name, value]) => `    ${keyOf(name)}: ${valueOf(value)},`),
    headers.length > 0 && '  },',
    body !== undefined && `  body: ${isSigned ? 'body' : bodyOf(request)},`,
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    'console.log(await response.text());',
  );
}

function signing(request: SampleRequest): string {
  return lines(
    "import { createHash, createHmac } from 'node:crypto';",
    '',
    `const body = ${bodyOf(request).replaceAll('\n  ', '\n')};`,
    'const timestamp = String(Date.now());',
    "const digest = createHash('sha256').update(body).digest('hex');",
    "const signature = createHmac('sha256', process.env.APP_SECRET!)",
    `  .update(['latchkey-request-v2', ${quote(request.operationId)}, timestamp, digest].join('\\n'))`,
    "  .digest('hex');",
    '',
  );
}

function bodyOf({ body = '', isJson }: SampleRequest): string {
  // JSON is a literal of the language.
  return isJson ? `JSON.stringify(${indent(body, '  ').trimStart()})` : JSON.stringify(body);
}

function valueOf(value: HeaderValue): string {
  if (value.kind === 'text') return quote(value.text);
  return value.kind === 'token' ? '`Bearer ${process.env.TOKEN}`' : value.kind;
}

const keyOf = (name: string) => (/^\w+$/.test(name) ? name : quote(name));

const quote = (text: string) =>
  text.includes("'") || text.includes('\\') ? JSON.stringify(text) : `'${text}'`;
