import { having, requireKind } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { parseUrl } from '../../core/parse-url.ts';
import { BaseChannel, type Channel, type Frame } from './channel.ts';
import { RemoteLostError } from '../errors.ts';
import {
  MAX_FRAME_BYTE_LENGTH,
  encodeFrame,
  PIECE_BYTE_LENGTH,
  decodeFrame,
} from './frame-bytes.ts';

const SOCKET = having('a WebSocket', 'send', 'addEventListener');
const WINDOW_BYTE_LENGTH = 16 * PIECE_BYTE_LENGTH;

/** The common part of the sockets of browsers and of `ws`. */
interface SocketLike {
  /** The type of binary messages; the channel sets `arraybuffer`. */
  binaryType: string;
  /** The state of the socket: 1 while it is open. */
  readonly readyState: number;
  /** Bytes that wait to be sent. */
  readonly bufferedAmount: number;
  /** Sends a message of bytes. */
  send(data: Uint8Array<ArrayBuffer>): void;
  /** Ends the connection, with a code and a reason. */
  close(code?: number, reason?: string): void;
  /** Adds a listener for messages, for the end, for the beginning, and for errors. */
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
  const { search, username, password, protocol } = new URL(parseUrl(url));
  if (search !== '' || username !== '' || password !== '' || !/^wss?:$/.test(protocol)) {
    throw new UsageError({
      where: 'address of a remote connection',
      got: 'an address with a query, a user or another protocol',
      expected: 'ws://host:port/ or wss://host/',
      remedy: 'Tokens and keys are options of connect; they are never part of an address.',
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
  return new WebSocket(url, {
    maxPayload: MAX_FRAME_BYTE_LENGTH,
    perMessageDeflate: false,
    generateMask: leaveUnmasked,
  });
}

/**
 * Masks protect proxies from what scripts of strange pages send. In Node there are none, and masking
 * costs a third of what sending does.
 */
function leaveUnmasked(mask: Uint8Array): void {
  mask.fill(0);
}

class WebSocketChannel extends BaseChannel {
  readonly pieceByteLength = PIECE_BYTE_LENGTH;
  readonly windowByteLength = WINDOW_BYTE_LENGTH;
  readonly #socket: SocketLike;

  constructor(socket: SocketLike) {
    super();
    requireKind('webSocketChannel', SOCKET, ['the socket', socket]);
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

  send(frame: Frame): void {
    if (this.isClosed || this.#socket.readyState !== OPEN) return;
    this.#socket.send(encodeFrame(frame));
  }

  close(): void {
    this.end('the connection was closed here');
    this.#socket.close(1000);
  }

  #take(data: unknown): void {
    if (!(data instanceof ArrayBuffer)) {
      this.#refuse(UNSUPPORTED_DATA, 'the other side sent no frame');
      return;
    }
    if (data.byteLength > MAX_FRAME_BYTE_LENGTH) {
      this.#refuse(TOO_BIG, 'the other side sent a frame that is too large');
      return;
    }
    const frame = decodeFrame(new Uint8Array(data));
    if (frame === undefined)
      this.#refuse(UNSUPPORTED_DATA, 'the other side sent an incomplete frame');
    else this.receive(frame);
  }

  #refuse(code: number, reason: string): void {
    this.end(reason);
    // Browsers let pages send only 1000 and codes from 3000 up.
    this.#socket.close(code + 3000, reason);
  }
}

function unreachable(url: string): RemoteLostError {
  return new RemoteLostError({
    where: new URL(url).origin,
    got: 'no connection',
    expected: 'a relay or a device that listens there',
    remedy: 'Start it with `weft rpc relay` or `weft rpc serve`, and check the address.',
  });
}
