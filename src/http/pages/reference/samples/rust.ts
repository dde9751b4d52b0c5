import { lines, quoted, type HeaderValue, type SampleRequest } from './request.ts';

/** A program that uses `reqwest` and `tokio`, and `hmac`, `sha2` and `hex` for signatures. */
export function toRust(request: SampleRequest): string {
  const { method, url, headers, body, isSigned } = request;
  const usesToken = headers.some(([, { kind }]) => kind === 'token');
  return lines(
    isSigned && 'use hmac::{Hmac, Mac};',
    isSigned && 'use sha2::{Digest, Sha256};',
    (usesToken || isSigned) && 'use std::env;',
    isSigned && 'use std::time::{SystemTime, UNIX_EPOCH};',
    (usesToken || isSigned) && '',
    '#[tokio::main]',
    'async fn main() -> Result<(), Box<dyn std::error::Error>> {',
    body !== undefined && `    let body = ${textOf(body)};`,
    isSigned && signing(request),
    '    let response = reqwest::Client::new()',
    `        .${method.toLowerCase()}(${quoted(url)})`,
    ...headers.map(([name, value]) => `        ${headerOf(name, value)}`),
    body !== undefined && '        .body(body)',
    '        .send()',
    '        .await?',
    '        .error_for_status()?;',
    '    println!("{}", response.text().await?);',
    '    Ok(())',
    '}',
  );
}

function signing({ operationId }: SampleRequest): string {
  return lines(
    '    let timestamp = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis().to_string();',
    '    let digest = hex::encode(Sha256::digest(body));',
    `    let message = format!("latchkey-request-v2\\n${operationId}\\n{timestamp}\\n{digest}");`,
    '    let mut mac = Hmac::<Sha256>::new_from_slice(env::var("APP_SECRET")?.as_bytes())?;',
    '    mac.update(message.as_bytes());',
    '    let signature = hex::encode(mac.finalize().into_bytes());',
  );
}

function textOf(text: string): string {
  return text.includes('\n') && !text.includes('"#') ? `r#"${text}"#` : quoted(text);
}

function headerOf(name: string, value: HeaderValue): string {
  if (value.kind === 'token') return '.bearer_auth(env::var("TOKEN")?)';
  return `.header(${quoted(name)}, ${value.kind === 'text' ? quoted(value.text) : value.kind})`;
}
