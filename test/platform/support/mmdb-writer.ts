import ipaddr from 'ipaddr.js';

type Value = string | boolean | { readonly uint: 16 | 32 | 64; readonly value: number } | Value[] | Members;
interface Members {
  readonly [name: string]: Value;
}

interface Node {
  /** For the bit 0 and the bit 1: another node, the offset of an entry in the data section, or undefined. */
  readonly branches: [Node | number | undefined, Node | number | undefined];
}

const RECORD_BYTES = 3;
const SEPARATOR_BYTES = 16;

/**
 * Writes a MaxMind database (file format version 2.0) with records of 24 bits.
 * @param options.type such as `GeoIP2-Anonymous-IP`
 * @param options.networks CIDR form; none may be within another
 */
export function writeMaxMindDatabase(options: {
  type: string;
  ipVersion: 4 | 6;
  networks: Readonly<Record<string, Members>>;
}): Buffer {
  const { type, ipVersion, networks } = options;
  const root: Node = { branches: [undefined, undefined] };
  const entries: Buffer[] = [];
  let dataBytes = 0;
  for (const [network, members] of Object.entries(networks)) {
    insert(root, bitsOf(network, ipVersion), dataBytes);
    const entry = encode(members);
    entries.push(entry);
    dataBytes += entry.length;
  }

  const nodes: Node[] = [root];
  for (let index = 0; index < nodes.length; index += 1) {
    for (const branch of nodes[index]!.branches) if (typeof branch === 'object') nodes.push(branch);
  }
  const numbers = new Map(nodes.map((node, index) => [node, index]));
  const recordOf = (branch: Node | number | undefined): number => {
    if (branch === undefined) return nodes.length;
    return typeof branch === 'number' ? nodes.length + SEPARATOR_BYTES + branch : numbers.get(branch)!;
  };
  const tree = Buffer.alloc(nodes.length * 2 * RECORD_BYTES);
  for (const [index, { branches }] of nodes.entries()) {
    for (const side of [0, 1] as const) {
      tree.writeUIntBE(recordOf(branches[side]), (index * 2 + side) * RECORD_BYTES, RECORD_BYTES);
    }
  }

  const metadata = encode({
    node_count: { uint: 32, value: nodes.length },
    record_size: { uint: 16, value: RECORD_BYTES * 8 },
    ip_version: { uint: 16, value: ipVersion },
    database_type: type,
    languages: ['en'],
    binary_format_major_version: { uint: 16, value: 2 },
    binary_format_minor_version: { uint: 16, value: 0 },
    build_epoch: { uint: 64, value: 1_795_000_000 },
    description: { en: 'Networks for tests' },
  });
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR_BYTES), ...entries, marker, metadata]);
}

/** In an IPv6 tree, IPv4 networks are in `::/96`. */
function bitsOf(network: string, ipVersion: 4 | 6): string {
  const [address, prefix] = ipaddr.parseCIDR(network);
  const bits = address.toByteArray().map((byte) => byte.toString(2).padStart(8, '0'));
  const padding = ipVersion === 6 && address.kind() === 'ipv4' ? '0'.repeat(96) : '';
  return padding + bits.join('').slice(0, prefix);
}

function insert(root: Node, bits: string, offset: number): void {
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    const side = bit === '0' ? 0 : 1;
    const next = node.branches[side] ?? { branches: [undefined, undefined] };
    if (typeof next === 'number') throw new Error('a network is within another');
    node.branches[side] = next;
    node = next;
  }
  const side = bits.endsWith('0') ? 0 : 1;
  if (node.branches[side] !== undefined) throw new Error('a network is within another');
  node.branches[side] = offset;
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([head(2, text.length), text]);
  }
  if (typeof value === 'boolean') return head(14, value ? 1 : 0);
  if (Array.isArray(value)) return Buffer.concat([head(11, value.length), ...value.map(encode)]);
  if ('uint' in value && typeof value.uint === 'number') {
    const { uint, value: number } = value as { uint: 16 | 32 | 64; value: number };
    const bytes = Buffer.alloc(uint / 8);
    bytes.writeUIntBE(number, Math.max(bytes.length - 6, 0), Math.min(bytes.length, 6));
    return Buffer.concat([head({ 16: 5, 32: 6, 64: 9 }[uint], bytes.length), bytes]);
  }
  const members = Object.entries(value as Members);
  return Buffer.concat([
    head(7, members.length),
    ...members.flatMap(([name, member]) => [encode(name), encode(member)]),
  ]);
}

/** The control byte, with the type in a second byte if three bits are too few for it. */
function head(type: number, size: number): Buffer {
  if (size > 28) throw new Error('this writer has no need for larger values');
  return type > 7 ? Buffer.from([size, type - 7]) : Buffer.from([(type << 5) | size]);
}
