import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { operations } from '../contract/operations.ts';
import { startTestService } from '../support/service.ts';

const { baseUrl, api } = await startTestService();

const read = async (path: string) => {
  const response = await fetch(baseUrl + path);
  return { response, html: await response.text() };
};

/** The text of HTML without its tags. */
const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The examples of a page by their language. */
const examplesOf = (html: string) =>
  new Map(
    [...html.matchAll(/<summary>(.*?)<\/summary><pre tabindex="0"><code>([\s\S]*?)<\/code>/g)].map(
      ([, label, source]) => [textOf(label!), textOf(source!)] as const,
    ),
  );

const LANGUAGES = ['curl', 'TypeScript', 'Python', 'C#', 'C++', 'Go', 'Rust', 'Java'];

/** The words of a shell command, read by a shell. */
function wordsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\nTOKEN=a-token\n${command}`;
  return execFileSync('bash', ['-c', script]).toString().split('\0').slice(0, -1);
}

test.each(['/docs', '/docs/operations'])('%s links to each operation, without a script', async (path) => {
  const { response, html } = await read(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8/i);
  const linked = [...html.matchAll(/href="\/docs\/(\w+)"/g)].map(([, operationId]) => operationId);
  expect([...new Set(linked)].filter((id) => id !== 'operations').toSorted()).toEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
  );
  for (const id of ['errors', 'lists', 'licenses', 'browser-sessions'])
    expect(html).toContain(`<h2 id="${id}">`);
});

test.each(operations.map((operation) => [operation.operationId, operation] as const))(
  'the page of %s',
  async (operationId, { method, path, codes, parameters, requestBody, bearer }) => {
    const { response, html } = await read(`/docs/${operationId}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(html).not.toMatch(/<script|\son\w+=|javascript:/i);
    expect(html).not.toContain('undefined');
    expect(html).not.toContain('[object Object]');
    const text = textOf(html);
    expect(text).toContain(`${method} ${path}`);
    for (const code of codes) {
      expect(html).toContain(
        `<a href="/errors/${code.toLowerCase().replaceAll('_', '-')}"><code>${code}</code></a>`,
      );
    }
    for (const { name } of parameters) expect(html).toContain(`<code>${name}</code>`);

    const examples = examplesOf(html);
    expect([...examples.keys()]).toEqual(LANGUAGES);
    const words = wordsOf(examples.get('curl')!);
    const [url] = words.filter((word) => word.startsWith('http'));
    expect(url!.startsWith(`${baseUrl}/`)).toBe(true);
    expect(url).not.toMatch(/[{}]/);
    expect(words.includes('Authorization: Bearer a-token')).toBe(bearer || words.join().includes('Bearer'));
    if (requestBody?.mediaType === 'application/json' && requestBody.example !== undefined) {
      expect(JSON.parse(words[words.indexOf('--data-binary') + 1]!)).toEqual(requestBody.example);
    }
  },
);

test('an unknown operation is not found, and only GET is accepted', async () => {
  const unknown = await read('/docs/nonsense');
  expect(unknown.response.status).toBe(404);
  const post = await fetch(`${baseUrl}/docs`, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('the example of an operation without a credential works as printed', async () => {
  const { html } = await read('/docs/registerDeveloper');
  const words = wordsOf(examplesOf(html).get('curl')!);
  const body = JSON.parse(words.at(-1)!) as object;
  const { status } = await api.post(new URL(words.find((word) => word.startsWith('http'))!).pathname, body);
  expect(status).toBe(201);
});

test('links begin with the path of WEB_URL', async () => {
  const { baseUrl: other } = await startTestService({ WEB_URL: 'https://www.example.com/latchkey' });
  const html = await (await fetch(`${other}/docs/verifySessionV2`)).text();
  const links = [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, link]) => link!);
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !link.startsWith('/latchkey/'))).toEqual([]);
});
