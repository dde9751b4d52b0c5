import { compare, parse, type SemVer } from 'semver';

/**
 * Whether a program's version is below the minimum, as defined by Semantic Versioning 2.0.0. Missing parts
 * count as 0; a version that cannot be parsed is below every minimum.
 */
export function isBelow(version: string, minimum: string): boolean {
  const wanted = read(minimum);
  const given = read(version);
  return wanted !== null && (given === null || compare(given, wanted) < 0);
}

/** Whether a text is a version that can be compared. */
export function isVersion(text: string): boolean {
  return read(text) !== null;
}

function read(version: string): SemVer | null {
  const [, core, suffix] = /^v?(\d+(?:\.\d+){0,2})([-+].*)?$/.exec(version.trim()) ?? [];
  if (core === undefined) return null;
  return parse([...core.split('.'), '0', '0'].slice(0, 3).join('.') + (suffix ?? ''));
}
