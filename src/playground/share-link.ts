import { concatenate } from '../core/bytes/concatenate.ts';

/** A few bytes may stand for any number. */
const MOST_BYTES = 2 ** 20;

/** The content of a link: a program and its input. */
interface SharedProgram {
  readonly program: string;
  readonly input: string;
}

/** A hash that holds a program: JSON, deflated, in base64 for addresses. */
export async function encodeProgram(shared: SharedProgram): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([shared.program, shared.input]));
  const packed = await through(bytes, new CompressionStream('deflate-raw'));
  const text = btoa(String.fromCharCode(...packed));
  return `#p=${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** The program of a hash; undefined where it holds none, or one that was cut off. */
export async function decodeProgram(hash: string): Promise<SharedProgram | undefined> {
  const text = /^#p=([\w-]+)$/.exec(hash)?.[1];
  if (text === undefined) return undefined;
  try {
    const packed = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const plain = await through(bytes, new DecompressionStream('deflate-raw'));
    const value: unknown = JSON.parse(new TextDecoder().decode(plain));
    if (!Array.isArray(value)) return undefined;
    const [program, input] = value as readonly unknown[];
    return typeof program === 'string' && typeof input === 'string'
      ? { program, input }
      : undefined;
  } catch {
    return undefined;
  }
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let byteLength = 0;
  for await (const piece of piecesOf(new Blob([bytes]).stream().pipeThrough(stream))) {
    byteLength += piece.byteLength;
    if (byteLength > MOST_BYTES) throw new RangeError(`more than ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  return concatenate(pieces);
}

/** Not every browser iterates over streams. */
async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
