/** Some browsers read the file after the click. */
const KEPT_MS = 60_000;

/** Lets the browser save a text as a file. */
export function saveAs(name: string, text: string, mediaType: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}

/** One row of a CSV file (RFC 4180). A value that a spreadsheet would run as a formula starts with an apostrophe. */
export function csvRow(values: readonly (string | number | null | undefined)[]): string {
  const cells = values.map((value) => {
    const text = value === null || value === undefined ? '' : String(value);
    const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
  });
  return `${cells.join(',')}\r\n`;
}
