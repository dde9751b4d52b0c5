import { analyse } from 'scslre';

/** Repeated so often, a text takes a linear expression microseconds and a quadratic one several milliseconds. */
const FIRST_LENGTH = 2_000;
const FIRST_MS = 1;
/** What was slow is tried once more, four times as long: a quadratic expression then takes sixteen times as long. */
const SECOND_LENGTH = 8_000;
const SECOND_MS = 10;

/** Characters that most expressions distinguish; those that an expression names are tried as well. */
const USUAL = ['a', '0', ' ', '\t', '.', '-', '"', '\\', ':', '/'];
const MOST_NAMED = 6;

/** Why an expression is not linear, and what to repeat for a text that takes long. */
export interface Slow {
  readonly cause: string;
  readonly repeat: string;
}

/**
 * Why an expression takes more than linear time for some text: what its structure shows (two quantifiers that trade
 * characters, one that contains itself, one that is tried again at each place), or how long one or two repeated
 * characters take when it runs.
 * @param source of the expression
 * @param flags of the expression
 * @returns undefined when nothing was found
 */
export function superLinear(source: string, flags: string): Slow | undefined {
  if (!/[*+{]/.test(source)) return undefined;
  const [report] = analyse({ source, flags }).reports;
  if (report) return { cause: report.type.toLowerCase(), repeat: report.character.pick };
  const repeat = textsFor(source).find((text) => isSlowFor(new RegExp(source, flags), text));
  return repeat === undefined ? undefined : { cause: 'trial', repeat };
}

function textsFor(source: string): string[] {
  const named = [...new Set(source.match(/[^\w\s()[\]{}|?*+^$]/g) ?? [])].slice(0, MOST_NAMED);
  const characters = [...new Set([...named, ...USUAL])];
  return characters.flatMap((first) => [first, ...characters.map((second) => first + second)]);
}

function isSlowFor(expression: RegExp, text: string): boolean {
  return (
    millisecondsFor(expression, text.repeat(FIRST_LENGTH)) > FIRST_MS &&
    millisecondsFor(expression, text.repeat(FIRST_LENGTH)) > FIRST_MS &&
    millisecondsFor(expression, text.repeat(SECOND_LENGTH)) > SECOND_MS
  );
}

/** Processor time of this thread, so that other programs do not count. */
export function millisecondsFor(expression: RegExp, text: string): number {
  // The end is one that hardly any expression takes, so that all ways to match are tried.
  const whole = `${text}\n\0`;
  const before = process.threadCpuUsage();
  expression.lastIndex = 0;
  expression.test(whole);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
