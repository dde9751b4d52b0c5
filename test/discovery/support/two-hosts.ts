import { freePort } from '../../support/free-port.ts';
import { startTestService, type TestService } from '../../support/service.ts';

/** A service with different hosts for its API and its pages. */
export async function startOnTwoHosts(
  environment: Record<string, string> = {},
): Promise<TestService & { readonly webUrl: string }> {
  const port = String(await freePort());
  const [baseUrl, webUrl] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const service = await startTestService({
    PORT: port,
    BASE_URL: baseUrl,
    WEB_URL: webUrl,
    ...environment,
  });
  return { ...service, webUrl };
}
