import type { IncomingMessage, RequestListener } from 'node:http';

/** What a bare server does at the least: reads a JSON body and answers one. */
export function jsonListener<Body = { readonly token: string }>(
  answer: (body: Body, request: IncomingMessage) => object | Promise<object>,
): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = JSON.stringify(await answer(JSON.parse(Buffer.concat(chunks).toString()), request));
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    });
  };
}
