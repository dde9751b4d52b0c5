import { indent, lines, type HeaderValue, type SampleRequest } from './request.ts';

/** A command of a POSIX shell. */
export function toCurl(request: SampleRequest): string {
  const { operationId, method, url, headers, body, isSigned } = request;
  const command = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${headerOf(name, value)}`),
    ...(body === undefined ? [] : [`--data-binary ${isSigned ? '"$BODY"' : quote(indented(request))}`]),
  ].join(' \\\n  ');
  return isSigned ? lines(signing(operationId, body ?? ''), command) : command;
}

function signing(operationId: string, body: string): string {
  return lines(
    `BODY=${quote(body)}`,
    'TIMESTAMP=$(date +%s000)',
    'DIGEST=$(printf %s "$BODY" | openssl dgst -sha256 -r | cut -d\' \' -f1)',
    `SIGNATURE=$(printf 'latchkey-request-v2\\n%s\\n%s\\n%s' ${operationId} "$TIMESTAMP" "$DIGEST" |`,
    '  openssl dgst -sha256 -hmac "$APP_SECRET" -r | cut -d\' \' -f1)',
    '',
  );
}

/** JSON ignores spaces; a signature covers them, and other bodies have a meaning for them. */
function indented({ body = '', isJson }: SampleRequest): string {
  return isJson ? indent(body, '  ').trimStart() : body;
}

const VARIABLES = { token: 'Bearer $TOKEN', timestamp: '$TIMESTAMP', signature: '$SIGNATURE' };

function headerOf(name: string, value: HeaderValue): string {
  return value.kind === 'text' ? quote(`${name}: ${value.text}`) : `"${name}: ${VARIABLES[value.kind]}"`;
}

/** A text as one word. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
