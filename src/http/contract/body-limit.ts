import type { Document, Operation } from 'openapi-backend';
import { BODY_LIMIT } from '../transport/request-body.ts';

/** For a body that is not JSON. */
const UPLOAD_LIMIT = 32 * 1024 * 1024;

/** The extensions of an operation about its body. */
interface Marks {
  /** Media types that generated clients do not use, with the status of their success. */
  readonly 'x-also-accepts'?: Readonly<Record<string, string>>;
  /** Its own limit. */
  'x-max-bytes'?: number;
  /** The setting that changes the limit. */
  readonly 'x-max-bytes-setting'?: string;
}

/**
 * Applies the limits that are settings (`x-max-bytes-setting`) to the contract itself, so that the published limits are
 * the enforced ones.
 * @param settings limits in bytes by the names of the settings
 * @throws Error when an operation names an unknown setting
 */
export function applyBodyLimits(document: Document, settings: Readonly<Record<string, number>>): void {
  const operations = Object.values(document.paths ?? {}).flatMap((item) => Object.values(item as object));
  for (const marks of operations as Marks[]) {
    const setting = marks['x-max-bytes-setting'];
    if (setting === undefined) continue;
    const limit = settings[setting];
    if (limit === undefined) throw new Error(`x-max-bytes-setting: there is no setting ${setting}`);
    marks['x-max-bytes'] = limit;
  }
}

/**
 * The largest body that an operation accepts, in bytes.
 * @param operation undefined when the request matches no operation
 */
export function bodyLimitOf(operation: Operation | undefined): number {
  if (!operation) return BODY_LIMIT;
  const { 'x-max-bytes': limit } = operation as Marks;
  if (limit !== undefined) return limit;
  return mediaTypesOfBody(operation).every((type) => type === 'application/json') ? BODY_LIMIT : UPLOAD_LIMIT;
}

/** The media types of the bodies that an operation accepts; empty for an operation without a body. */
export function mediaTypesOfBody(operation: Operation): readonly string[] {
  const { content = {} } = (operation.requestBody ?? {}) as { readonly content?: object };
  const { 'x-also-accepts': others = {} } = operation as Marks;
  return [...Object.keys(content), ...Object.keys(others)];
}
