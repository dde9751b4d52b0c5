import { indent, lines, quoted, type HeaderValue, type SampleRequest } from './request.ts';

/** A program of the standard library. */
export function toGo(request: SampleRequest): string {
  const { method, url, headers, body, isSigned } = request;
  const imports = [
    ...(isSigned ? ['crypto/hmac', 'crypto/sha256', 'encoding/hex', 'fmt'] : []),
    'io',
    'net/http',
    'os',
    ...(body === undefined ? [] : ['strings']),
    ...(isSigned ? ['time'] : []),
  ];
  return lines(
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    // Lines of a raw text are part of it.
    body !== undefined && `\tbody := ${textOf(body)}`,
    isSigned && indent(signing(request), '\t'),
    `\trequest, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, ${
      body === undefined ? 'nil' : 'strings.NewReader(body)'
    })`,
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    ...headers.map(([name, value]) => `\trequest.Header.Set(${quoted(name)}, ${valueOf(value)})`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tio.Copy(os.Stdout, response.Body)',
    '}',
  );
}

function signing({ operationId }: SampleRequest): string {
  return lines(
    'timestamp := fmt.Sprint(time.Now().UnixMilli())',
    'digest := sha256.Sum256([]byte(body))',
    'mac := hmac.New(sha256.New, []byte(os.Getenv("APP_SECRET")))',
    `fmt.Fprintf(mac, "latchkey-request-v2\\n${operationId}\\n%s\\n%x", timestamp, digest)`,
    'signature := hex.EncodeToString(mac.Sum(nil))',
  );
}

function textOf(text: string): string {
  return text.includes('`') || !text.includes('\n') ? quoted(text) : `\`${text}\``;
}

function valueOf(value: HeaderValue): string {
  if (value.kind === 'text') return quoted(value.text);
  return value.kind === 'token' ? '"Bearer "+os.Getenv("TOKEN")' : value.kind;
}
