import { toCpp } from './cpp.ts';
import { toCSharp } from './csharp.ts';
import { toCurl } from './curl.ts';
import { toGo } from './go.ts';
import { toJava } from './java.ts';
import { toPython } from './python.ts';
import type { SampleRequest } from './request.ts';
import { toRust } from './rust.ts';
import { toTypeScript } from './typescript.ts';

/** A request in one language. */
export interface Sample {
  /** The language as a highlighter knows it. */
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const LANGUAGES = [
  { lang: 'shell', label: 'curl', write: toCurl },
  { lang: 'typescript', label: 'TypeScript', write: toTypeScript },
  { lang: 'python', label: 'Python', write: toPython },
  { lang: 'csharp', label: 'C#', write: toCSharp },
  { lang: 'cpp', label: 'C++', write: toCpp },
  { lang: 'go', label: 'Go', write: toGo },
  { lang: 'rust', label: 'Rust', write: toRust },
  { lang: 'java', label: 'Java', write: toJava },
] as const;

/** A request in every language of the reference. */
export function samplesOf(request: SampleRequest): Sample[] {
  return LANGUAGES.map(({ lang, label, write }) => ({ lang, label, source: write(request) }));
}
