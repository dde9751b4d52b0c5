/** A frame of `text/event-stream`. One without data only says where the stream is. */
export interface Frame {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly data: string | undefined;
}

/** Reads a stream of server-sent events (WHATWG HTML, section 9.2) as its parts arrive, which end anywhere. */
export function createFrameReader(): (part: string) => Frame[] {
  let rest = '';
  return (part) => {
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop()!;
    return blocks.map(toFrame);
  };
}

function toFrame(block: string): Frame {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
  }
  return { id: fields.get('id'), type: fields.get('event'), data: fields.get('data') };
}
