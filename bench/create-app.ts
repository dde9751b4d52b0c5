import type { App } from './data.ts';

/** The sign-in of the developer. */
export const EMAIL = 'bench@latchkey.example';
export const PASSWORD = 'a developer password';

/** Registers a developer at the service and creates an application, as a developer would. */
export async function createApp(port: number): Promise<App> {
  async function post<Result>(path: string, body: object, token?: string): Promise<Result> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    if (response.status !== 201)
      throw new Error(`${path} returned ${response.status} ${await response.text()}`);
    return (await response.json()) as Result;
  }
  const account = { email: EMAIL, password: PASSWORD };
  const { token } = await post<{ token: string }>('/api/v2/dev/register', account);
  const { app_id, secret } = await post<App>('/api/v2/dev/apps', { name: 'Bench' }, token);
  return { app_id, secret, token };
}
