import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { encodeHead } from '../../rpc/values/messages.ts';
import { errorToWire, LimitError } from '../../rpc/errors.ts';
import { encodeFrame } from '../../rpc/channels/frame-bytes.ts';

/** A proof and what frames it take a few hundred bytes. */
const MAX_BYTE_LENGTH = 8192;
const TOO_MANY = 4429;

interface UnprovedLimits {
  readonly total: number;
  readonly perAddress: number;
}

/**
 * Sockets whose other side has not proved anything yet. The newest is the likeliest to prove: one too
 * many ends the oldest of the address that has the most, so that silent ones keep nobody out.
 */
export class UnprovedSockets {
  readonly #limits: UnprovedLimits;
  /** The address of each socket, in the order in which they came. */
  readonly #sockets = new Map<WebSocket, string>();

  constructor(limits: UnprovedLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** `stream` is what the socket reads from; the address is that of the other side. */
  add(socket: WebSocket, stream: Duplex, address: string): void {
    this.#sockets.set(socket, address);
    socket.on('close', () => this.#sockets.delete(socket));
    let byteLength = 0;
    const count = (bytes: Buffer): void => {
      byteLength += bytes.byteLength;
      if (!this.#sockets.has(socket)) stream.off('data', count);
      else if (byteLength > MAX_BYTE_LENGTH) socket.close(1009, 'too many bytes before the proof');
      if (byteLength > 2 * MAX_BYTE_LENGTH && this.#sockets.has(socket)) socket.terminate();
    };
    stream.on('data', count);
    this.#makeRoom(address);
  }

  /** The socket's other side has proved that it belongs here. */
  remove(socket: WebSocket): void {
    this.#sockets.delete(socket);
  }

  #makeRoom(address: string): void {
    const { total, perAddress } = this.#limits;
    const counts = this.#counts();
    if ((counts.get(address) ?? 0) > perAddress) this.#endOldest(address, perAddress);
    else if (this.#sockets.size > total) {
      const [greediest] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
      this.#endOldest(greediest, total);
    }
  }

  #counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const address of this.#sockets.values()) {
      counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    return counts;
  }

  #endOldest(address: string, limit: number): void {
    for (const [socket, from] of this.#sockets) {
      if (from !== address) continue;
      this.#sockets.delete(socket);
      refuse(
        socket,
        new LimitError({
          where: 'relay',
          got: `more than ${limit} connections without a proof`,
          expected: 'the proof of the token at once',
          remedy: 'Connect again.',
        }),
      );
      return;
    }
  }
}

/** Says why, in a message for clients of Weft and in the reason of the close for others. */
export function refuse(socket: WebSocket, error: LimitError): void {
  socket.send(encodeFrame({ head: encodeHead(['error', errorToWire(withoutStack(error))]) }));
  socket.close(TOO_MANY, error.message.slice(0, 120));
}

function withoutStack(error: LimitError): LimitError {
  delete error.stack;
  return error;
}
