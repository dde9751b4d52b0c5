import { expect, test } from 'vitest';
import { expectContract, type Exchange } from '../support/exchange.ts';

/** The parts of an exchange, which a case changes. */
interface Parts {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

const refusal = (): Parts => ({
  method: 'GET',
  path: '/api/v2/dev/apps/app_00000000000000000000000000',
  status: 404,
  headers: {
    'content-type': 'application/problem+json',
    'x-request-id': 'req_0000000000000000000000',
  },
  body: {
    type: 'http://127.0.0.1/errors/APPLICATION_NOT_FOUND',
    title: 'Application not found',
    status: 404,
    detail: 'There is no such application.',
    code: 'APPLICATION_NOT_FOUND',
    docs_url: 'http://127.0.0.1/errors/APPLICATION_NOT_FOUND',
    request_id: 'req_0000000000000000000000',
  },
});

const health = (): Parts => ({
  method: 'GET',
  path: '/health',
  status: 200,
  headers: { 'content-type': 'application/json', 'x-request-id': 'req_0000000000000000000000' },
  body: {},
});

function exchangeOf({ headers, body, ...parts }: Parts): Exchange {
  return { ...parts, headers: new Headers(headers), text: JSON.stringify(body) };
}

test('an exchange as the contract says is accepted', () => {
  expectContract(exchangeOf(refusal()));
});

test.each<[string, RegExp, (parts: Parts) => void]>([
  ['another media type', /media type of an error/, (parts) => (parts.headers['content-type'] = 'text/html')],
  ['another status in the body', /status in the body/, (parts) => (parts.body['status'] = 400)],
  ['a code that does not exist', /unknown code/, (parts) => (parts.body['code'] = 'NO_SUCH_CODE')],
  ['a code of another status', /status of the code/, (parts) => (parts.body['code'] = 'VALIDATION_FAILED')],
  ['a code that is not declared', /undeclared code/, (parts) => (parts.body['code'] = 'PLAN_NOT_FOUND')],
  ['another request_id', /request_id/, (parts) => (parts.body['request_id'] = 'req_1111111111111111111111')],
  ['another type', /type/, (parts) => (parts.body['type'] = 'about:blank')],
  ['a stack', /leak/, (parts) => (parts.body['detail'] = 'at open (/srv/src/main.ts:12)')],
  ['a statement', /leak/, (parts) => (parts.body['detail'] = 'select * from users')],
  ['a missing member', /detail/, (parts) => delete parts.body['detail']],
  ['a member of another type', /string/, (parts) => (parts.body['detail'] = 1)],
])('%s is refused', (_what, message, change) => {
  const parts = refusal();
  change(parts);
  expect(() => expectContract(exchangeOf(parts))).toThrow(message);
});

test('a body that does not fit a success is refused', () => {
  expect(() => expectContract(exchangeOf(health()))).toThrow(/required/);
});

test('a status that is not declared is refused', () => {
  expect(() => expectContract(exchangeOf({ ...health(), status: 203 }))).toThrow(/undeclared status/);
});

test('a media type that is not declared is refused', () => {
  const parts = health();
  parts.headers['content-type'] = 'text/plain';
  expect(() => expectContract(exchangeOf(parts))).toThrow(/undeclared media type/);
});
