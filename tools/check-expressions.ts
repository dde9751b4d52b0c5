import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { BUILT, EXCEPTIONS, type Exception } from './expressions/exceptions.ts';
import { LOADED, OWN, REACHED } from './expressions/reached.ts';
import { type Expression, builtBy, expressionsOf } from './expressions/read.ts';
import { millisecondsFor, superLinear } from './expressions/verdict.ts';

const MODULES = 'node_modules/';
const FORMATS = `${MODULES}ajv-formats/dist/formats.js`;
const EXCEPTION_MS = 5;
const require = createRequire(import.meta.url);

/** Our expressions and those of the modules that read requests, each once, and where ours are built from values. */
function collect(): { expressions: Expression[]; built: Set<string>; missing: string[] } {
  const expressions = new Map<string, Expression>();
  const built = new Set<string>();
  const missing: string[] = [];
  const add = (expression: Expression) => {
    const key = `/${expression.source}/${expression.flags}`;
    if (!expressions.has(key)) expressions.set(key, expression);
  };
  for (const pattern of [...OWN, ...REACHED.map((pattern) => MODULES + pattern)]) {
    const files = globSync(pattern);
    if (files.length === 0) missing.push(`${pattern}: there is no such file`);
    for (const file of files) {
      const found = expressionsOf(file, readFileSync(file, 'utf8'));
      found.expressions.filter(isUsed).forEach(add);
      if (!file.startsWith(MODULES)) found.built.forEach((place) => built.add(place));
    }
  }
  // Modules that build expressions from strings are loaded for them.
  for (const { file, used } of LOADED) {
    let exports: unknown;
    const made = builtBy(() => (exports = require(`../${MODULES}${file}`)));
    const checked = used?.(exports) ?? made;
    if (checked.length === 0) missing.push(`${file}: builds no expression`);
    for (const { source, flags } of checked) add({ source, flags, place: `${MODULES}${file}` });
  }
  return { expressions: [...expressions.values()], built, missing };
}

/** A format that no schema has is compiled into no validator. */
function isUsed({ place, member }: Expression): boolean {
  if (member === undefined || !place.startsWith(`${FORMATS}:`)) return true;
  const validators = readFileSync('generated/request-validators.js', 'utf8');
  return validators.includes(`fullFormats.${member};`) || validators.includes(`fullFormats["${member}"]`);
}

function exceptionFor({ source, place }: Expression): Exception | undefined {
  return EXCEPTIONS.find((each) => place.startsWith(MODULES + each.file) && source === each.source);
}

/**
 * Regular expressions that receive input and are not linear: ours never are, and one of a dependency is accepted
 * only if the longest text that reaches it is short. Also entries that the lists do not need.
 */
function faults(): string[] {
  const { expressions, built, missing } = collect();
  const excepted = new Set<Exception>();
  const found = [...missing];
  for (const expression of expressions) {
    const { source, flags, place } = expression;
    const exception = exceptionFor(expression);
    const slow = superLinear(source, flags);
    if (!slow) continue;
    const { cause, repeat } = slow;
    if (!exception) {
      found.push(`${place}: not linear (${cause} of ${JSON.stringify(repeat)}): /${source}/${flags}`);
    } else {
      excepted.add(exception);
      const text = repeat.repeat(exception.longest / repeat.length);
      const spent = millisecondsFor(new RegExp(source, flags), text);
      if (spent > EXCEPTION_MS) found.push(`${place}: takes ${spent} ms for ${exception.longest} characters`);
    }
  }
  for (const each of EXCEPTIONS) {
    if (!excepted.has(each)) found.push(`${each.file}: needs no exception: /${each.source}/`);
  }
  for (const place of built) if (!(place in BUILT)) found.push(`${place}: is built from values`);
  for (const place of Object.keys(BUILT)) if (!built.has(place)) found.push(`${place}: is not there`);
  return found;
}

if (import.meta.main) {
  const found = faults();
  for (const fault of found) console.error(`expression: ${fault}`);
  if (found.length > 0) process.exitCode = 1;
}
