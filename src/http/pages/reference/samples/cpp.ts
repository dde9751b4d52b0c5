import { indent, lines, quoted, type HeaderValue, type SampleRequest } from './request.ts';

/** A program that uses libcurl, and OpenSSL for signatures. */
export function toCpp(request: SampleRequest): string {
  const { method, url, headers, body, isSigned } = request;
  const usesToken = headers.some(([, { kind }]) => kind === 'token');
  const statements = lines(
    body !== undefined && `const std::string body = ${textOf(body)};`,
    isSigned && signing(request),
    'CURL* curl = curl_easy_init();',
    headers.length > 0 && 'curl_slist* headers = nullptr;',
    ...headers.map(([name, value]) => `headers = curl_slist_append(headers, ${headerOf(name, value)});`),
    `curl_easy_setopt(curl, CURLOPT_URL, ${quoted(url)});`,
    `curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, ${quoted(method)});`,
    headers.length > 0 && 'curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);',
    body !== undefined && 'curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());',
    '// Writes the response to standard output.',
    'const CURLcode result = curl_easy_perform(curl);',
    headers.length > 0 && 'curl_slist_free_all(headers);',
    'curl_easy_cleanup(curl);',
    'return result == CURLE_OK ? 0 : 1;',
  );
  return lines(
    '#include <curl/curl.h>',
    isSigned && '#include <openssl/hmac.h>',
    '',
    isSigned && '#include <chrono>',
    (usesToken || isSigned) && '#include <cstdlib>',
    '#include <string>',
    '',
    isSigned && HEX,
    'int main() {',
    // Lines of a raw text are part of it.
    body === undefined || !body.includes('\n') ? indent(statements, '  ') : indentAround(statements, body),
    '}',
  );
}

/** Indents the statements, but not the lines of the body. */
function indentAround(statements: string, body: string): string {
  const [before = '', after = ''] = statements.split(body);
  return after === ''
    ? indent(statements, '  ')
    : indent(before, '  ') + body + indent(after, '  ').trimStart();
}

const HEX = `std::string hex(const unsigned char* bytes, unsigned length) {
  std::string text;
  for (unsigned i = 0; i < length; i++) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}
`;

function signing({ operationId }: SampleRequest): string {
  return lines(
    'const auto now = std::chrono::system_clock::now().time_since_epoch();',
    'const std::string timestamp =',
    '    std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());',
    'unsigned char bytes[EVP_MAX_MD_SIZE];',
    'unsigned length = 0;',
    'EVP_Digest(body.data(), body.size(), bytes, &length, EVP_sha256(), nullptr);',
    `const std::string message = "latchkey-request-v2\\n${operationId}\\n" + timestamp + "\\n" + hex(bytes, length);`,
    'const std::string key = std::getenv("APP_SECRET");',
    'HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),',
    '     reinterpret_cast<const unsigned char*>(message.data()), message.size(), bytes, &length);',
    'const std::string signature = hex(bytes, length);',
  );
}

function textOf(text: string): string {
  return text.includes('\n') && !text.includes(')"') ? `R"(${text})"` : quoted(text);
}

function headerOf(name: string, value: HeaderValue): string {
  if (value.kind === 'text') return quoted(`${name}: ${value.text}`);
  return value.kind === 'token'
    ? `("${name}: Bearer " + std::string(std::getenv("TOKEN"))).c_str()`
    : `("${name}: " + ${value.kind}).c_str()`;
}
