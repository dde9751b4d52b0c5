import { indent, lines, quoted, type HeaderValue, type SampleRequest } from './request.ts';

/** A program of .NET 8 or later. */
export function toCSharp(request: SampleRequest): string {
  const { method, url, headers, body, isSigned } = request;
  const mediaType = headers.find(([name]) => name === 'Content-Type')?.[1];
  return lines(
    body !== undefined && 'using System.Net.Http.Headers;',
    isSigned && 'using System.Security.Cryptography;',
    isSigned && 'using System.Text;',
    body !== undefined && '',
    body !== undefined && `var body = ${textOf(body)};`,
    isSigned && signing(request),
    'using var client = new HttpClient();',
    `using var request = new HttpRequestMessage(HttpMethod.${wordOf(method)}, ${quoted(url)});`,
    ...headers
      .filter(([name]) => name !== 'Content-Type')
      .map(([name, value]) => `request.Headers.Add(${quoted(name)}, ${valueOf(value)});`),
    mediaType &&
      `request.Content = new StringContent(body, new MediaTypeHeaderValue(${valueOf(mediaType)}));`,
    'using var response = await client.SendAsync(request);',
    'response.EnsureSuccessStatusCode();',
    'Console.WriteLine(await response.Content.ReadAsStringAsync());',
  );
}

function signing({ operationId }: SampleRequest): string {
  return lines(
    'var timestamp = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds().ToString();',
    'var digest = Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(body))).ToLowerInvariant();',
    `var message = $"latchkey-request-v2\\n${operationId}\\n{timestamp}\\n{digest}";`,
    'var key = Encoding.UTF8.GetBytes(Environment.GetEnvironmentVariable("APP_SECRET")!);',
    'var signature = Convert.ToHexString(HMACSHA256.HashData(key, Encoding.UTF8.GetBytes(message)))',
    '    .ToLowerInvariant();',
  );
}

/** A raw text, whose lines begin where its closing quotes are. */
function textOf(text: string): string {
  return text.includes('"""') || text.endsWith('\n') || !text.includes('\n')
    ? quoted(text)
    : `"""\n${indent(text, '    ')}\n    """`;
}

function valueOf(value: HeaderValue): string {
  if (value.kind === 'text') return quoted(value.text);
  return value.kind === 'token' ? '$"Bearer {Environment.GetEnvironmentVariable("TOKEN")}"' : value.kind;
}

const wordOf = (method: string) => method[0] + method.slice(1).toLowerCase();
