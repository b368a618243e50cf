import type { FromPart, ToPart } from './part-protocol.ts';
import { PartServer } from './part-server.ts';

/** A thread's way to the one that started it. */
interface PartPort {
  post(message: FromPart, transfer: readonly ArrayBuffer[]): void;
  onMessage(take: (message: ToPart) => void): void;
}

/** Does units of steps for another thread, until that ends this one. */
export function servePart(port: PartPort): void {
  const server = new PartServer((message, transfer) => port.post(message, transfer));
  port.onMessage((message) => server.take(message));
}
