import { lines, quoted, type HeaderValue, type SampleRequest } from './request.ts';

/** A program that uses `requests`. */
export function toPython(request: SampleRequest): string {
  const { method, url, headers, body, isSigned } = request;
  return lines(
    isSigned && 'import hashlib',
    isSigned && 'import hmac',
    (isSigned || headers.some(([, { kind }]) => kind === 'token')) && 'import os',
    isSigned && 'import time',
    isSigned && '',
    'import requests',
    '',
    isSigned && signing(request),
    'response = requests.request(',
    `    ${quoted(method)},`,
    `    ${quoted(url)},`,
    headers.length > 0 && '    headers={',
    ...headers.map(([name, value]) => `        ${quoted(name)}: ${valueOf(value)},`),
    headers.length > 0 && '    },',
    body !== undefined && `    data=${isSigned ? 'body' : `${textOf(body)}.encode()`},`,
    ')',
    'response.raise_for_status()',
    'print(response.text)',
  );
}

function signing({ operationId, body = '' }: SampleRequest): string {
  return lines(
    `body = ${textOf(body)}.encode()`,
    'timestamp = str(int(time.time() * 1000))',
    'digest = hashlib.sha256(body).hexdigest()',
    `message = "\\n".join(["latchkey-request-v2", ${quoted(operationId)}, timestamp, digest])`,
    'signature = hmac.new(os.environ["APP_SECRET"].encode(), message.encode(), "sha256").hexdigest()',
    '',
  );
}

/** A text of several lines as it is, without the escapes that it does not need. */
function textOf(text: string): string {
  return /\\|"""/.test(text) || !text.includes('\n') ? quoted(text) : `"""${text}"""`;
}

function valueOf(value: HeaderValue): string {
  if (value.kind === 'text') return quoted(value.text);
  return value.kind === 'token' ? `f"Bearer {os.environ['TOKEN']}"` : value.kind;
}
