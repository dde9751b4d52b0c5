import { expect, test } from 'vitest';
import { filesWith } from './sources.ts';

const MAKERS = /\b(createLocalJWKSet|createRemoteJWKSet|EmbeddedJWK|importJWK|importSPKI|importX509)\b/;

test('keys of other parties are imported in one place, which refuses weak ones', () => {
  expect(filesWith(MAKERS)).toEqual(['src/access/agents/issuer-keys.ts']);
});
