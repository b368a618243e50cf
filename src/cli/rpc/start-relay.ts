import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { UsageError } from '../../core/errors.ts';
import { webSocketChannel } from '../../rpc/index.ts';
import { MAX_FRAME_BYTE_LENGTH } from '../../rpc/frame-bytes.ts';
import { DEFAULT_RPC_LIMITS } from '../../rpc/limits.ts';
import { admitToRelay, announcePartner, type RelayRole } from '../../rpc/relay-channel.ts';

export interface RelayOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  readonly token: string;
  /** Pages of these origins may connect; default: those of this machine. Others have no origin. */
  readonly origins?: readonly string[] | undefined;
  /** Default: 256. */
  readonly maxConnections?: number | undefined;
  /** Until who connects has to have proved that it knows the token. */
  readonly handshakeMs?: number | undefined;
}

export interface RelayCounters {
  readonly waiting: number;
  readonly pairs: number;
  readonly connections: number;
  readonly bufferedBytes: number;
}

export interface Relay {
  /** `ws://host:port/`. */
  readonly url: string;
  /** Devices that wait, pairs that talk, and bytes that wait for slow readers. */
  counters(): RelayCounters;
  close(): Promise<void>;
}

/** Bytes that wait in a socket before its partner is read no further. */
const MAX_BUFFERED = 8 * 2 ** 20;
/** A client waits so long for a device that is about to ask again. */
const CLIENT_WAIT_MS = 5000;
const LOCAL_ORIGIN = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

interface Waiting {
  readonly socket: WebSocket;
  readonly start: () => void;
}

/**
 * Pairs devices and clients that ask for the same key, and then passes their messages on, which it
 * does not read. Listens on loopback unless told otherwise.
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const relay = new RelayServer(options);
  await relay.listen();
  return relay;
}

class RelayServer implements Relay {
  readonly #options: RelayOptions;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTE_LENGTH,
    perMessageDeflate: false,
  });
  readonly #waiting = new Map<string, Waiting[]>();
  #pairs = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#server = createServer((_, response) => response.writeHead(426).end());
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  get url(): string {
    const { address, family, port } = this.#server.address() as AddressInfo;
    return `ws://${family === 'IPv6' ? `[${address}]` : address}:${port}/`;
  }

  counters(): RelayCounters {
    const { clients } = this.#sockets;
    const waiting = [...this.#waiting.values()].reduce((sum, list) => sum + list.length, 0);
    const bufferedBytes = [...clients].reduce((sum, socket) => sum + socket.bufferedAmount, 0);
    return { waiting, pairs: this.#pairs, connections: clients.size, bufferedBytes };
  }

  listen(): Promise<void> {
    const { port, host = '127.0.0.1' } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(
          new UsageError(
            { where: 'relay', got: `${host}:${port}, which is taken`, expected: 'a free port' },
            { cause },
          ),
        ),
      );
      this.#server.listen(port, host, resolve);
    });
  }

  close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { maxConnections = 256 } = this.#options;
    const { origin } = request.headers;
    if (this.#sockets.clients.size >= maxConnections) refuse(socket, '503 Service Unavailable');
    else if (origin !== undefined && !this.#isAllowed(origin)) refuse(socket, '403 Forbidden');
    else {
      this.#sockets.handleUpgrade(request, socket, head, (opened) => void this.#admit(opened));
    }
  }

  #isAllowed(origin: string): boolean {
    const { origins } = this.#options;
    return origins === undefined ? LOCAL_ORIGIN.test(origin) : origins.includes(origin);
  }

  async #admit(socket: WebSocket): Promise<void> {
    const { token, handshakeMs = DEFAULT_RPC_LIMITS.handshakeMs } = this.#options;
    const channel = webSocketChannel(socket);
    try {
      const { role, key } = await admitToRelay(channel, { token, timeoutMs: handshakeMs });
      this.#join(socket, { role, key, start: () => announcePartner(channel) });
    } catch {
      // The other side was told why.
      socket.close();
    }
  }

  /** Who comes first waits. */
  #join(
    socket: WebSocket,
    { role, key, start }: { role: RelayRole; key: string; start: () => void },
  ): void {
    const partners = this.#waiting.get(`${other(role)} ${key}`) ?? [];
    const partner = partners.shift();
    if (partners.length === 0) this.#waiting.delete(`${other(role)} ${key}`);
    if (partner !== undefined) {
      this.#pair(socket, partner.socket);
      start();
      partner.start();
      return;
    }
    const place = `${role} ${key}`;
    const mine: Waiting = { socket, start };
    this.#waiting.set(place, [...(this.#waiting.get(place) ?? []), mine]);
    const leave = (): void => {
      const left = (this.#waiting.get(place) ?? []).filter((candidate) => candidate !== mine);
      if (left.length > 0) this.#waiting.set(place, left);
      else this.#waiting.delete(place);
    };
    socket.on('close', leave);
    if (role === 'client') {
      const timer = setTimeout(() => {
        if (!(this.#waiting.get(place) ?? []).includes(mine)) return;
        leave();
        socket.close(4404, 'no device waits under this key');
      }, CLIENT_WAIT_MS);
      timer.unref();
    }
  }

  #pair(a: WebSocket, b: WebSocket): void {
    this.#pairs++;
    forward(a, b);
    forward(b, a);
    a.on('close', () => this.#pairs--);
  }
}

/** Passes messages on; reads no faster than the other side does. */
function forward(from: WebSocket, to: WebSocket): void {
  from.removeAllListeners('message');
  from.on('message', (data: RawData, isBinary: boolean) => {
    if (to.readyState !== WebSocket.OPEN) return;
    to.send(data as Buffer, { binary: isBinary }, () => {
      if (from.isPaused && to.bufferedAmount <= MAX_BUFFERED) from.resume();
    });
    if (to.bufferedAmount > MAX_BUFFERED) from.pause();
  });
  from.on('close', (code, reason) => {
    const isSent = code === 1000 || (code >= 3000 && code < 5000);
    to.close(isSent ? code : 1001, isSent ? reason : 'the other side is gone');
  });
  from.on('error', () => undefined);
}

function other(role: RelayRole): RelayRole {
  return role === 'device' ? 'client' : 'device';
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
}
