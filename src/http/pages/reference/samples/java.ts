import { indent, lines, quoted, type HeaderValue, type SampleRequest } from './request.ts';

/** A program of Java 17 or later. */
export function toJava(request: SampleRequest): string {
  const { method, url, headers, body, isSigned } = request;
  const content = body === undefined ? '""' : 'body';
  const statements = lines(
    body !== undefined && `var body = ${textOf(body)};`,
    isSigned && signing(request),
    `var request = HttpRequest.newBuilder(URI.create(${quoted(url)}))`,
    method === 'GET'
      ? '    .GET()'
      : `    .method(${quoted(method)}, HttpRequest.BodyPublishers.ofString(${content}))`,
    ...headers.map(([name, value]) => `    .header(${quoted(name)}, ${valueOf(value)})`),
    '    .build();',
    'var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    'System.out.println(response.body());',
  );
  return lines(
    'import java.net.URI;',
    'import java.net.http.HttpClient;',
    'import java.net.http.HttpRequest;',
    'import java.net.http.HttpResponse;',
    isSigned && 'import java.security.MessageDigest;',
    isSigned && 'import java.util.HexFormat;',
    isSigned && 'import javax.crypto.Mac;',
    isSigned && 'import javax.crypto.spec.SecretKeySpec;',
    '',
    'class Example {',
    '    public static void main(String[] args) throws Exception {',
    indent(statements, '        '),
    '    }',
    '}',
  );
}

function signing({ operationId }: SampleRequest): string {
  return lines(
    'var timestamp = String.valueOf(System.currentTimeMillis());',
    'var digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body.getBytes("UTF-8")));',
    `var message = "latchkey-request-v2\\n${operationId}\\n" + timestamp + "\\n" + digest;`,
    'var mac = Mac.getInstance("HmacSHA256");',
    'mac.init(new SecretKeySpec(System.getenv("APP_SECRET").getBytes("UTF-8"), "HmacSHA256"));',
    'var signature = HexFormat.of().formatHex(mac.doFinal(message.getBytes("UTF-8")));',
  );
}

/** A text block, whose lines begin where its closing quotes are. */
function textOf(text: string): string {
  if (!text.includes('\n') || text.endsWith('\n') || /"""| $/m.test(text)) return quoted(text);
  return `"""\n${indent(text.replaceAll('\\', '\\\\'), '    ')}"""`;
}

function valueOf(value: HeaderValue): string {
  if (value.kind === 'text') return quoted(value.text);
  return value.kind === 'token' ? '"Bearer " + System.getenv("TOKEN")' : value.kind;
}
