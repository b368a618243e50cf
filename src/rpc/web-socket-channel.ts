import { UsageError } from '../core/errors.ts';
import { BaseChannel, type Channel, type Frame } from './channel.ts';
import { RemoteLostError } from './errors.ts';
import { MAX_HEAD_BYTE_LENGTH } from './limits.ts';

const PIECE_BYTE_LENGTH = 256 * 1024;
const WINDOW_BYTE_LENGTH = 16 * PIECE_BYTE_LENGTH;
/** Bodies begin at a multiple of it, so that tensors are views of what arrives. */
const ALIGNMENT = 8;
const PREFIX_BYTE_LENGTH = 4;

/** The largest message that a socket has to take. */
export const MAX_SOCKET_MESSAGE_BYTE_LENGTH =
  PIECE_BYTE_LENGTH + MAX_HEAD_BYTE_LENGTH + PREFIX_BYTE_LENGTH + ALIGNMENT;

/** What the sockets of browsers and of `ws` have in common. */
export interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
  addEventListener(type: 'open' | 'error', listener: (event: object) => void): void;
}

const OPEN = 1;
const TOO_BIG = 1009;
const UNSUPPORTED_DATA = 1003;

/** A channel over a socket that is open. The socket belongs to the channel. */
export function webSocketChannel(socket: SocketLike): Channel {
  return new WebSocketChannel(socket);
}

/** Opens a socket. Rejects with RemoteLostError when nobody answers, UsageError for a bad address. */
export async function openWebSocket(url: string, signal?: AbortSignal): Promise<Channel> {
  const { search, username, password, protocol } = new URL(url);
  if (search !== '' || username !== '' || password !== '' || !/^wss?:$/.test(protocol)) {
    throw new UsageError({
      where: 'address of a remote session',
      got: 'an address with a query, a user or another protocol',
      expected: 'ws://host:port/ or wss://host/',
      remedy: 'Tokens and keys are options of connect; they never stand in an address.',
    });
  }
  const socket = (await createSocket(url)) as SocketLike;
  socket.binaryType = 'arraybuffer';
  // Made now, so that nothing is missed which comes with the answer.
  const channel = new WebSocketChannel(socket);
  await new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(unreachable(url));
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', fail);
    socket.addEventListener('close', fail);
    signal?.addEventListener('abort', () => {
      socket.close();
      reject(signal.reason as Error);
    });
  });
  return channel;
}

/** Node before 22 has no sockets of its own. */
async function createSocket(url: string): Promise<unknown> {
  if (typeof globalThis.WebSocket === 'function') return new globalThis.WebSocket(url);
  const { WebSocket } = await import('ws');
  return new WebSocket(url, { maxPayload: MAX_SOCKET_MESSAGE_BYTE_LENGTH });
}

class WebSocketChannel extends BaseChannel {
  readonly pieceByteLength = PIECE_BYTE_LENGTH;
  readonly windowByteLength = WINDOW_BYTE_LENGTH;
  readonly #socket: SocketLike;

  constructor(socket: SocketLike) {
    super();
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }) => this.#take(data));
    socket.addEventListener('error', () => undefined);
    socket.addEventListener('close', ({ code, reason }) => {
      this.end(reason === '' ? `the connection broke off (code ${code})` : reason);
    });
  }

  get bufferedByteLength(): number {
    return this.#socket.bufferedAmount;
  }

  send({ head, body }: Frame): void {
    if (this.isClosed || this.#socket.readyState !== OPEN) return;
    const bodyStart = align(PREFIX_BYTE_LENGTH + head.byteLength);
    const length =
      body === undefined ? PREFIX_BYTE_LENGTH + head.byteLength : bodyStart + body.byteLength;
    const message = new Uint8Array(length);
    new DataView(message.buffer).setUint32(0, head.byteLength, true);
    message.set(head, PREFIX_BYTE_LENGTH);
    if (body !== undefined) message.set(body, bodyStart);
    this.#socket.send(message);
  }

  close(): void {
    this.end('the session was closed here');
    this.#socket.close(1000);
  }

  #take(data: unknown): void {
    if (!(data instanceof ArrayBuffer) || data.byteLength < PREFIX_BYTE_LENGTH) {
      this.#refuse(UNSUPPORTED_DATA, 'the other side sent no frame');
      return;
    }
    if (data.byteLength > MAX_SOCKET_MESSAGE_BYTE_LENGTH) {
      this.#refuse(TOO_BIG, 'the other side sent a frame that is too large');
      return;
    }
    const headLength = new DataView(data).getUint32(0, true);
    const headEnd = PREFIX_BYTE_LENGTH + headLength;
    if (headEnd > data.byteLength) {
      this.#refuse(UNSUPPORTED_DATA, 'the other side sent a frame that is cut');
      return;
    }
    const bodyStart = align(headEnd);
    const hasBody = headEnd < data.byteLength && bodyStart <= data.byteLength;
    this.receive({
      head: new Uint8Array(data, PREFIX_BYTE_LENGTH, headLength),
      body: hasBody ? new Uint8Array(data, bodyStart) : undefined,
    });
  }

  #refuse(code: number, reason: string): void {
    this.end(reason);
    // Browsers let pages send only 1000 and codes from 3000 up.
    this.#socket.close(code + 3000, reason);
  }
}

function align(byteLength: number): number {
  return Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
}

function unreachable(url: string): RemoteLostError {
  return new RemoteLostError({
    where: new URL(url).origin,
    got: 'no connection',
    expected: 'a relay or a device that listens there',
    remedy: 'Start it with `weft rpc relay` or `weft rpc serve`, and check the address.',
  });
}
