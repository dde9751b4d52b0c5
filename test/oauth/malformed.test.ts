import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const service = await startTestService();

test.each(['/oauth/interaction/%', '/oauth/interaction/%ff', '/agent/claim/%', '/account/password/%'])(
  'the malformed address %s is a client error',
  async (path) => {
    expect((await fetch(`${service.baseUrl}${path}`)).status).toBe(400);
  },
);

test.each(['/oauth/interaction/x', `/agent/claim/${'x'.repeat(43)}`, '/account/password'])(
  'so is an invalid compressed form at %s',
  async (path) => {
    const { status } = await fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': 'gzip' },
      body: 'no gzip',
    });
    expect(status).toBe(415);
  },
);
