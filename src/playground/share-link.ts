/** The content of a link: a program and its input. */
export interface SharedProgram {
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
  const answer = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await answer.arrayBuffer());
}
