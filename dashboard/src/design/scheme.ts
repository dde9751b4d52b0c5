import { createStore, useStore } from '../lib/store.ts';

/** `system` follows the reader's system. */
export type Scheme = 'system' | 'light' | 'dark';

const KEY = 'latchkey-scheme';

function stored(): Scheme {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

const scheme = createStore<Scheme>(stored());

function apply(): void {
  const value = scheme.get();
  if (value === 'system') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = value;
}

apply();

export function setScheme(value: Scheme): void {
  localStorage.setItem(KEY, value);
  scheme.set(value);
  apply();
}

export const useScheme = (): Scheme => useStore(scheme);

const darkSystem = matchMedia('(prefers-color-scheme: dark)');

/** Calls back whenever the colors on the page change. @returns ends it */
export function onColorChange(listener: () => void): () => void {
  darkSystem.addEventListener('change', listener);
  const end = scheme.subscribe(() => queueMicrotask(listener));
  return () => {
    darkSystem.removeEventListener('change', listener);
    end();
  };
}
