import { UsageError } from '../../core/errors.ts';

/** Stands for the class of `ws` where there is no Node; what runs there has sockets of its own. */
export function WebSocket(url: string | URL): never {
  throw new UsageError({
    where: `the connection to ${new URL(url).origin}`,
    got: 'an environment without WebSocket',
    expected: 'a browser, a worker, Node, Deno or Bun',
    remedy: 'Give `connect` a channel of your own, as `webSocketChannel` makes of a socket.',
  });
}
