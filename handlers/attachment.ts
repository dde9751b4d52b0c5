/**
 * A text as a file. Its media type is that of any file, because generated clients support no type of tables or lines.
 * @param name with an extension for its format
 */
export function attachment<Status extends number>(
  status: Status,
  name: string,
  stream: AsyncIterable<string | Uint8Array>,
) {
  const headers = { 'Content-Disposition': `attachment; filename="${name}"` };
  return { status, mediaType: 'application/octet-stream', stream, headers } as const;
}
