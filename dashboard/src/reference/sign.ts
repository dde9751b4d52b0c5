/** The nonces of examples, which the service accepts only once. */
interface WithNonce {
  nonce?: unknown;
}

/** What a signed request of version 2 has. */
export interface Signed {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs a request with an application's secret, as the tag Signatures describes, and gives it a new nonce. */
export async function sign(operationId: string, body: string, secret: string): Promise<Signed> {
  const signedBody = JSON.stringify({ ...(JSON.parse(body) as WithNonce), nonce: newNonce() }, undefined, 2);
  const timestamp = String(Date.now());
  const digest = hexOf(await crypto.subtle.digest('SHA-256', bytesOf(signedBody)));
  const key = await crypto.subtle.importKey(
    'raw',
    bytesOf(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const text = ['latchkey-request-v2', operationId, timestamp, digest].join('\n');
  return {
    body: signedBody,
    headers: {
      'x-signature': hexOf(await crypto.subtle.sign('HMAC', key, bytesOf(text))),
      'x-timestamp': timestamp,
      'x-signature-version': '2',
    },
  };
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

const newNonce = () => hexOf(crypto.getRandomValues(new Uint8Array(16)).buffer);

function hexOf(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
