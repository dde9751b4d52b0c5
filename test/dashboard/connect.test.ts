import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { samplesOf } from '../../dashboard/src/pages/connect/samples.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { newApp, newDeveloper, type App } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/processes.ts';
import { PYTHON_REQUESTS } from '../support/python-requests.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();
const folder = await temporaryFolder(atFileEnd);
const { api, baseUrl } = service;
// The examples sign the time of this machine.
service.clock.advance(Date.now() - service.clock.now().getTime());

/** Runs the text of the example for curl as it is on the page, with the secret in its place. */
async function runShown(page: Page, { secret }: App): Promise<unknown> {
  const shown = await page.getByRole('group', { name: 'example in curl' }).textContent();
  return run('bash', 'login.sh', shown!.replace("'sk_YOUR_SECRET'", `'${secret}'`));
}

/** @returns the response that a program prints */
async function run(program: string, name: string, source: string, environment = {}): Promise<unknown> {
  const file = join(folder, name);
  writeFileSync(file, source);
  const env = { PATH: process.env['PATH'], ...environment };
  return JSON.parse((await promisify(execFile)(program, [file], { env })).stdout);
}

test('the last step of the checklist has an example, which logs in and completes it', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { page, faults } = await openSignedIn(browser, service, developer);
  await page.getByRole('button', { name: 'Show an example' }).click();
  await page.getByText('YOUR_LICENSE_KEY').first().waitFor();
  // With a key, the example is open by itself and has it.
  const [key] = await app.keys(1, 'Standard');
  await page.reload();
  await page.getByRole('group', { name: 'example in curl' }).getByText(key!).waitFor();
  await page.getByRole('tab', { name: 'C++' }).click();
  await page.getByRole('group', { name: 'command that runs it' }).waitFor();
  await page.getByRole('tab', { name: 'curl' }).click();
  expect(await runShown(page, app)).toHaveProperty('token');
  await page.getByText('Your program is connected').waitFor();
  expect(faults).toEqual([]);
});

test('the statistics without a login say how to connect a program, until the first login', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const [key] = await app.keys(1, 'Standard');
  await app.patch({ require_signatures: true });
  const { page, faults } = await openSignedIn(browser, service, developer);
  await page.goto(`${baseUrl}/dashboard/apps/${app.app_id}`);
  await page.getByRole('heading', { name: 'Connect your program' }).waitFor();
  await page.getByRole('group', { name: 'example in curl' }).getByText(key!).waitFor();
  await gone(page.locator('canvas'));
  expect(await runShown(page, app)).toHaveProperty('token');
  await page.getByRole('heading', { name: 'Logins by version' }).waitFor();
  expect(faults).toEqual([]);
});

test('the example in each language is a program that can run again', async () => {
  const app = await newApp(api, await newDeveloper(api));
  const [licenseKey] = await app.keys(1, 'Standard');
  const samples = samplesOf({ url: baseUrl, appId: app.app_id, licenseKey: licenseKey! });
  const sourceOf = (wanted: string) => samples.find(({ id }) => id === wanted)!.source;
  expect(samples.map(({ id }) => id)).toEqual(['curl', 'python', 'csharp', 'cpp', 'typescript']);
  for (const { source } of samples) expect(source).toContain(licenseKey);
  const diagnostics = ts.transpileModule(sourceOf('typescript'), { reportDiagnostics: true }).diagnostics;
  expect(diagnostics).toEqual([]);
  writeFileSync(join(folder, 'requests.py'), PYTHON_REQUESTS);
  const environment = { APP_SECRET: app.secret };
  for (let times = 0; times < 2; times += 1) {
    for (const [program, name, language] of [
      [process.execPath, 'login.mts', 'typescript'],
      ['python3', 'login.py', 'python'],
    ] as const)
      expect(await run(program, name, sourceOf(language), environment)).toHaveProperty('token');
  }
});
