const BYTEA = 17;
const HEADER_BYTES = 20;

/**
 * A `bytea[]` in PostgreSQL's binary format, which pg uses for a Buffer: half the bytes of the text format, and nothing
 * to parse on either side.
 * @returns the value of a parameter that the statement casts to `bytea[]`
 */
export function byteaArray(values: readonly Buffer[]): Buffer {
  if (values.length === 0) return Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, BYTEA]);
  const bytes = Buffer.allocUnsafe(values.reduce((sum, { length }) => sum + 4 + length, HEADER_BYTES));
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(0, 4); // no nulls
  bytes.writeInt32BE(BYTEA, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // the first index
  let offset = HEADER_BYTES;
  for (const value of values) {
    offset = bytes.writeInt32BE(value.length, offset);
    offset += value.copy(bytes, offset);
  }
  return bytes;
}
