import { having, requireKind } from '../../core/check-options.ts';
import { BaseChannel, type Channel, type Frame } from './channel.ts';

const PORT = having('a MessagePort or a Worker', 'postMessage', 'addEventListener');
const PIECE_BYTE_LENGTH = 32 * 2 ** 20;
const WINDOW_BYTE_LENGTH = 2 * PIECE_BYTE_LENGTH;

/** The common part of a MessagePort, a Worker and the global scope of a dedicated worker. */
export interface PortLike {
  /** Sends a message, and hands over what is transferred. */
  postMessage(message: unknown, transfer: Transferable[]): void;
  /** Adds a listener for messages, for those that cannot be read, and for the end. */
  addEventListener(
    type: 'message' | 'messageerror' | 'close',
    listener: (event: Event) => void,
  ): void;
  /** Lets messages come, where a port holds them back until then. */
  start?(): void;
  /** Ends the port, where it can be ended. */
  close?(): void;
}

/**
 * A channel over a MessagePort or a worker. Buffers of results are transferred; arguments, which
 * stay the caller's, are copied once. The port belongs to the channel.
 */
export function messagePortChannel(port: PortLike): Channel {
  return new MessagePortChannel(port);
}

class MessagePortChannel extends BaseChannel {
  readonly pieceByteLength = PIECE_BYTE_LENGTH;
  readonly windowByteLength = WINDOW_BYTE_LENGTH;
  /** A port does not say what waits in it; the window bounds it. */
  readonly bufferedByteLength = 0;
  readonly #port: PortLike;

  constructor(port: PortLike) {
    super();
    requireKind('messagePortChannel', PORT, ['the port', port]);
    this.#port = port;
    port.addEventListener('message', (event) => this.#take((event as MessageEvent).data));
    port.addEventListener('messageerror', () => this.#finish('a message that cannot be read'));
    // Not every browser has this event: then only the other side's farewell ends the connection.
    port.addEventListener('close', () => this.end('the port was closed'));
    port.start?.();
  }

  send({ head, body, isOwned = false }: Frame): void {
    if (this.isClosed) return;
    const { buffer } = body ?? {};
    // A view would take the rest of its buffer along.
    const isWhole = body !== undefined && body.byteLength === body.buffer.byteLength;
    const transfer = isOwned && isWhole && buffer instanceof ArrayBuffer ? [buffer] : [];
    this.#port.postMessage([head, isWhole ? body : body?.slice()], transfer);
  }

  close(): void {
    if (this.isClosed) return;
    this.#port.postMessage(null, []);
    this.#finish('the connection was closed here');
  }

  #take(message: unknown): void {
    if (message === null) {
      this.#finish('the other side closed the connection');
      return;
    }
    const [head, body] = Array.isArray(message) ? (message as unknown[]) : [];
    const isBody = body === undefined || body instanceof Uint8Array;
    if (head instanceof Uint8Array && isBody) this.receive({ head, body });
    else this.#finish('the other side sent no frame');
  }

  #finish(reason: string): void {
    this.end(reason);
    this.#port.close?.();
  }
}
