import './style.css';
import { BASE } from '../api/base.ts';
import { correctMarkup } from './accessibility.ts';
import { createSender } from './sender.ts';
import type { OpenApiDocument } from './sender.ts';
import { restrictMarkup } from './trusted-types.ts';

/** What the bundle of Scalar puts into the page. */
interface Scalar {
  createApiReference(target: string, configuration: object): unknown;
}

declare global {
  var Scalar: Scalar | undefined;
  /** The settings of the validation library inside the bundle. */
  var __zod_globalConfig: { jitless: boolean } | undefined;
}

/** Texts that are too long for their place, or differ from what a button shows. */
const TRANSLATIONS = {
  apiClient: { authSelector: { selectedType: '{type}' } },
  navigation: { showAllEndpoints: 'Show More {name} endpoints' },
};

const attributes = document.querySelector<HTMLElement>('#reference')!.dataset;

/** The scheme that the reader chose in the dashboard, or that of the system. */
function isDark(): boolean {
  const chosen = localStorage.getItem('latchkey-scheme');
  if (chosen === 'light' || chosen === 'dark') return chosen === 'dark';
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

function loadScript(src: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => reject(new Error('The API reference could not be loaded.')));
    document.head.append(script);
  });
}

async function readDocument(): Promise<OpenApiDocument> {
  const response = await fetch(attributes['document']!);
  if (!response.ok) throw new Error(`The API reference could not be loaded: ${response.status}.`);
  return (await response.json()) as OpenApiDocument;
}

/** Shows whether requests use the session of the dashboard. */
async function showSession(): Promise<void> {
  const response = await fetch(`${BASE}/api/v2/dev/browser-session`);
  const status = document.querySelector('#session');
  if (!status) return;
  if (response.ok) {
    const { kind } = (await response.json()) as { readonly kind: string };
    status.textContent = `Requests use your ${kind} session`;
  }
}

async function start(): Promise<void> {
  const scheme = isDark() ? 'dark' : 'light';
  document.documentElement.dataset['scheme'] = scheme;
  // Otherwise it tries whether it may run text as code, which the policy forbids and reports.
  globalThis.__zod_globalConfig = { jitless: true };
  restrictMarkup(attributes['bundle']!);
  const [content] = await Promise.all([readDocument(), loadScript(attributes['bundle']!)]);
  const target = document.querySelector('#reference')!;
  target.replaceChildren();
  // The style of what was there until now.
  document.querySelector('#plain')!.remove();
  correctMarkup(target);
  globalThis.Scalar!.createApiReference('#reference', {
    content,
    customFetch: createSender(content),
    forceDarkModeState: scheme,
    hideDarkModeToggle: true,
    theme: 'none',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    proxyUrl: '',
    hideClientButton: true,
    documentDownloadType: 'none',
    persistAuth: false,
    // The document has examples in the languages of the reference.
    hiddenClients: true,
    operationTitleSource: 'summary',
    generateOperationSlug: ({ operationId }: { readonly operationId?: string }) => operationId ?? '',
    defaultOpenFirstTag: false,
    localization: { translations: TRANSLATIONS },
  });
}

function report(error: unknown): void {
  const message = document.createElement('p');
  message.role = 'alert';
  message.textContent = `${error instanceof Error ? error.message : String(error)} Reload the page, or read the list.`;
  // The list is gone if the reference itself has failed.
  const loading = document.querySelector('#reference > .loading');
  if (loading) loading.replaceWith(message);
  else document.querySelector('#reference')!.prepend(message);
}

// The reference works without the text about the session.
start().then(() => showSession().catch(() => {}), report);
