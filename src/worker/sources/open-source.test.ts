import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { DownloadError } from '../../core/errors.ts';
import { openSource, peek } from './open-source.ts';
import type { OpenedSource } from './opened-source.ts';

const close: (() => void)[] = [];

afterEach(() => {
  for (const stop of close.splice(0)) stop();
});

/** A server whose answers a test gives, or never does. */
async function serve(): Promise<{
  readonly url: string;
  /** The next request, with when its client goes away. */
  next(): Promise<{ readonly response: ServerResponse; readonly gone: Promise<unknown> }>;
}> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  close.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/model.weft`,
    async next() {
      const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
      return { response, gone: once(response, 'close') };
    },
  };
}

function peekAt(opened: OpenedSource, signal: AbortSignal) {
  return peek(opened, { headByteLength: 4, signal, onBytes: () => undefined });
}

/** A source that gives these bytes and then nothing, for ever. */
function stalled(...bytes: readonly number[]) {
  const cancelled: unknown[] = [];
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (bytes.length > 0) controller.enqueue(Uint8Array.from(bytes));
    },
    cancel: (reason) => void cancelled.push(reason),
  });
  const opened: OpenedSource = { stream, byteLength: undefined, where: 'stream' };
  return { opened, cancelled };
}

test('a signal ends a request that nobody answers, with its reason, and hangs up', async () => {
  const server = await serve();
  const controller = new AbortController();
  const reason = new Error('enough');
  const opening = openSource({ kind: 'url', url: server.url }, controller.signal);
  opening.catch(() => undefined);
  const { gone } = await server.next();
  controller.abort(reason);
  await expect(opening).rejects.toBe(reason);
  await gone;
}, 5000);

test('a signal ends a download that stands still, with its reason, and hangs up', async () => {
  const server = await serve();
  const controller = new AbortController();
  const reason = new Error('enough');
  const opening = openSource({ kind: 'url', url: server.url }, controller.signal);
  const { response, gone } = await server.next();
  response.writeHead(200, { 'content-length': '1000' });
  response.write('half');
  const { head, stream } = await peekAt(await opening, controller.signal);
  expect(new TextDecoder().decode(head)).toBe('half');
  const reader = stream.getReader();
  expect((await reader.read()).value).toEqual(head);
  const read = reader.read();
  read.catch(() => undefined);
  controller.abort(reason);
  await expect(read).rejects.toBe(reason);
  await gone;
}, 5000);

test('a signal cancels a stream that says nothing, before the head and after it', async () => {
  const reason = new Error('enough');
  const early = stalled();
  const first = new AbortController();
  const peeking = peekAt(early.opened, first.signal);
  peeking.catch(() => undefined);
  first.abort(reason);
  await expect(peeking).rejects.toBe(reason);
  expect(early.cancelled).toEqual([reason]);

  const late = stalled(1, 2, 3, 4);
  const second = new AbortController();
  const { stream } = await peekAt(late.opened, second.signal);
  const reader = stream.getReader();
  await reader.read();
  const read = reader.read();
  read.catch(() => undefined);
  second.abort(reason);
  await expect(read).rejects.toBe(reason);
  expect(late.cancelled).toEqual([reason]);
}, 5000);

test('a signal is let go of when the stream ends, fails or is cancelled', async () => {
  const counted = () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const listeners = () => {
      const gone = new Set(removed.mock.calls.map(([, listener]) => listener));
      return added.mock.calls.filter(([, listener]) => !gone.has(listener)).length;
    };
    return { signal, listeners };
  };
  const ended = counted();
  const bytes: OpenedSource = {
    stream: new Blob(['bytes']).stream(),
    byteLength: 5,
    where: 'blob',
  };
  const { stream } = await peekAt(bytes, ended.signal);
  expect(ended.listeners()).toBe(1);
  await new Response(stream).arrayBuffer();
  expect(ended.listeners()).toBe(0);

  const failed = counted();
  const broken = new ReadableStream<Uint8Array>({ pull: (to) => to.error(new Error('cut')) });
  const peeking = peekAt({ stream: broken, byteLength: 9, where: 'cut.weft' }, failed.signal);
  await expect(peeking).rejects.toThrow(
    new DownloadError('cut.weft: got 0 of 9 bytes, then an error, expected all bytes.', {
      details: { loaded: 0 },
    }),
  );
  expect(failed.listeners()).toBe(0);

  const left = counted();
  const peeked = await peekAt(stalled(1, 2, 3, 4).opened, left.signal);
  await peeked.stream.cancel();
  expect(left.listeners()).toBe(0);
});
