import { type Contract, type Ref, type Schema, resolve } from './generate/document.ts';

const SECRET = /^((.*_)?(secret|password|token|otp|credential)|license_key|hwid|session_id)$/;

/**
 * Properties that hold a secret, by their name or by `format: password`, and lack `x-redact: true`. Redocly's
 * assertions cannot hold this: they visit a shared schema once, under the first name that refers to it.
 */
export function unmarkedSecrets(contract: Contract): string[] {
  const found: string[] = [];

  function visit(node: unknown, path: string): void {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, property] of Object.entries((node as { properties?: object }).properties ?? {})) {
      const schema = resolve(contract, property as Ref<Schema>);
      const secret = SECRET.test(name) || schema.format === 'password';
      if (secret && schema['x-redact'] !== true) found.push(`${path}/properties/${name}`);
    }
    for (const [key, value] of Object.entries(node)) {
      if (key !== 'example' && key !== 'examples') visit(value, `${path}/${key.replaceAll('/', '~1')}`);
    }
  }

  visit(contract, '#');
  return found;
}
