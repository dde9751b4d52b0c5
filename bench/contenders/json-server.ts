import type { IncomingMessage, RequestListener } from 'node:http';

/** The minimum that a server does: reads a JSON body and returns one. */
export function jsonListener<Body = { readonly token: string }>(
  respond: (body: Body, request: IncomingMessage) => object | Promise<object>,
): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = JSON.stringify(await respond(JSON.parse(Buffer.concat(chunks).toString()), request));
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    });
  };
}
