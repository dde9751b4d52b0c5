/** The page with the receipts of a purchase and its subscription. */
export function receiptUrl(webUrl: string, sessionRef: string): string {
  return `${pageUrl(webUrl, sessionRef)}/receipt`;
}

/** The page where a purchase is paid. */
export function pageUrl(webUrl: string, sessionRef: string): string {
  return `${webUrl}/pay/${sessionRef}`;
}

/** A readable number, such as `TP-000042`. */
export function receiptNumber(kind: 'TP' | 'IN', sequence: number): string {
  return `${kind}-${String(sequence).padStart(6, '0')}`;
}
