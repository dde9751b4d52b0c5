const ENCODER = new TextEncoder();
const UNITS = ['KB', 'MB', 'GB', 'TB'];

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** The size of a text in UTF-8. */
export const bytesOf = (text: string): number => ENCODER.encode(text).length;

/** A size such as `12.4 MB`, in units of 1024, as the limits of the contract are. */
export function formatBytes(bytes: number): string {
  if (bytes < KIB) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const power = Math.min(UNITS.length, Math.floor(Math.log(bytes) / Math.log(KIB)));
  const value = bytes / KIB ** power;
  return `${value.toFixed(value < 10 ? 1 : 0).replace(/\.0$/, '')} ${UNITS[power - 1]}`;
}
