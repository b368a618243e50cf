import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { UsageError } from '../../core/errors.ts';
import { webSocketChannel } from '../../rpc/index.ts';
import { MAX_FRAME_BYTE_LENGTH, encodeFrame } from '../../rpc/channels/frame-bytes.ts';
import { LimitError, errorToWire } from '../../rpc/errors.ts';
import { admitToRelay, announcePartner, type RelayRole } from '../../rpc/channels/relay-channel.ts';
import { encodeHead } from '../../rpc/values/messages.ts';

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
class UnprovedSockets {
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
function refuse(socket: WebSocket, error: LimitError): void {
  socket.send(encodeFrame({ head: encodeHead(['error', errorToWire(withoutStack(error))]) }));
  socket.close(TOO_MANY, error.message.slice(0, 120));
}

function withoutStack(error: LimitError): LimitError {
  delete error.stack;
  return error;
}

export interface RelayOptions {
  /** The port; 0 takes any that is free. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /**
   * Names by which it is reached, besides `localhost` and addresses of IP: a page cannot make a name of its own lead to
   * the relay then.
   */
  readonly names?: readonly string[] | undefined;
  /** The credential of devices and clients for the relay. It says nothing about the tokens of their connections. */
  readonly relayToken: string;
  /** Pages of these origins may connect; default: those of this machine. Others have no origin. */
  readonly origins?: readonly string[] | undefined;
  /** Of those that have proved the token. Default: 256. */
  readonly maxConnections?: number | undefined;
  /** Of those that have not. Default: 64. */
  readonly maxUnproved?: number | undefined;
  /** Of those that have not, from one address. Default: 16. */
  readonly maxUnprovedPerAddress?: number | undefined;
  /** Takes addresses from a proxy's `X-Forwarded-For`. Default: false. */
  readonly trustProxy?: boolean | undefined;
  /** Until who connects has to have proved that it knows the token. Default: 5000. */
  readonly handshakeMs?: number | undefined;
}

interface RelayCounters {
  readonly waiting: number;
  readonly pairs: number;
  readonly connections: number;
  /** Connections that have proved nothing yet. */
  readonly unproved: number;
  readonly bufferedBytes: number;
}

export interface Relay {
  /** The address of the relay: `ws://host:port/`. */
  readonly url: string;
  /** Devices that wait, pairs that talk, and bytes that wait for slow readers. */
  counters(): RelayCounters;
  close(): Promise<void>;
}

/** Bytes that wait in a socket before its partner is read no further. */
const MAX_BUFFERED = 8 * 2 ** 20;
/** A client waits so long for a device that is about to ask again. */
const CLIENT_WAIT_MS = 5000;
const HANDSHAKE_MS = 5000;
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
  readonly #unproved: UnprovedSockets;
  readonly #proved = new Set<WebSocket>();
  #pairs = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { maxUnproved: total = 64, maxUnprovedPerAddress: perAddress = 16 } = options;
    this.#unproved = new UnprovedSockets({ total, perAddress });
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
    return {
      waiting,
      pairs: this.#pairs,
      connections: clients.size,
      unproved: this.#unproved.size,
      bufferedBytes,
    };
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
    const { host, origin } = request.headers;
    if (!this.#isOwnName(host)) {
      socket.end('HTTP/1.1 421 Misdirected Request\r\nConnection: close\r\n\r\n');
      return;
    }
    if (origin !== undefined && !this.#isAllowed(origin)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      return;
    }
    const address = this.#addressOf(request);
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.on('error', () => undefined);
      if (this.#isFull(opened)) return;
      this.#unproved.add(opened, socket, address);
      void this.#admit(opened);
    });
  }

  #addressOf({ headers, socket }: IncomingMessage): string {
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join();
    const last = forwarded.split(',').at(-1)?.trim();
    const isForwarded = this.#options.trustProxy === true && last !== undefined && last !== '';
    return isForwarded ? last : (socket.remoteAddress ?? '');
  }

  /** Tells the socket's other side when there is no room for it. */
  #isFull(socket: WebSocket): boolean {
    const { maxConnections = 256 } = this.#options;
    if (this.#proved.size < maxConnections) return false;
    refuse(
      socket,
      new LimitError({
        where: 'relay',
        got: `as many connections as it accepts (${maxConnections})`,
        expected: 'fewer connections',
        remedy: 'Try again when others have left, or start the relay with a higher limit.',
      }),
    );
    return true;
  }

  /** Returns true if a `Host` header has an address of IP, or a name that was given. */
  #isOwnName(host = ''): boolean {
    const name = host.replace(/:\d+$/, '').toLowerCase();
    const { host: own, names = [] } = this.#options;
    return isIP(name.replace(/^\[|\]$/g, '')) > 0 || ['localhost', own, ...names].includes(name);
  }

  #isAllowed(origin: string): boolean {
    const { origins } = this.#options;
    return origins === undefined ? LOCAL_ORIGIN.test(origin) : origins.includes(origin);
  }

  async #admit(socket: WebSocket): Promise<void> {
    const { relayToken, handshakeMs: timeoutMs = HANDSHAKE_MS } = this.#options;
    const channel = webSocketChannel(socket);
    try {
      const { role, key } = await admitToRelay(channel, { relayToken, timeoutMs });
      this.#unproved.remove(socket);
      if (socket.readyState !== WebSocket.OPEN || this.#isFull(socket)) return;
      this.#proved.add(socket);
      socket.on('close', () => this.#proved.delete(socket));
      this.#join(socket, { role, key, start: () => announcePartner(channel) });
    } catch {
      // The other side was told why.
      socket.close();
    }
  }

  /** Pairs a socket with the first partner that waits, or lets it wait itself. */
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
