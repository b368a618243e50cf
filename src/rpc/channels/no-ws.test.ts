import { expect, test } from 'vitest';
import { UsageError } from '../../core/errors.ts';
import { WebSocket } from './no-ws.ts';

test('an environment without sockets is named when a connection is asked for', () => {
  const open = (): unknown => Reflect.construct(WebSocket, ['wss://relay.example/?token=no']);
  expect(open).toThrow(UsageError);
  expect(open).toThrow(
    'the connection to wss://relay.example: got an environment without WebSocket, expected a browser, a worker, Node, Deno or Bun. Give `connect` a channel of your own, as `webSocketChannel` makes of a socket.',
  );
});
