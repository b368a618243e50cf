import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LOOP_PLACE, loopAndTree } from '../../runtime/testing/long-programs.ts';
import { Session, type SnapshotStore, Tensor } from '../index.ts';

/** A document of which only the visibility is asked. */
class FakeDocument extends EventTarget {
  visibilityState: DocumentVisibilityState = 'visible';
  readonly baseURI = 'http://localhost/';

  turn(state: DocumentVisibilityState): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

let page = new FakeDocument();

beforeEach(() => {
  page = new FakeDocument();
  vi.stubGlobal('document', page);
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const x = Tensor.from([1, 2, 3]);

function open(): Promise<Session> {
  return Session.load(loopAndTree().toBytes(), { worker: false, device: 'host' });
}

/** A run that has not come to its end after some messages to and fro. */
async function heldRun(session: Session): Promise<{ readonly end: Promise<unknown> }> {
  let isOver = false;
  const end = session.run({ x, n: 0 }).finally(() => {
    isOver = true;
  });
  end.catch(() => undefined);
  for (let i = 0; i < 20; i++) await session.memory();
  expect(isOver).toBe(false);
  return { end };
}

test('a session pauses while its page is hidden', async () => {
  const session = await open();
  const stop = new AbortController();
  await session.pauseWhenHidden({ signal: stop.signal });
  await session.run({ x, n: 0 });
  page.turn('hidden');
  const first = await heldRun(session);
  page.turn('visible');
  await first.end;
  // Back before the pause was there.
  page.turn('hidden');
  page.turn('visible');
  await session.run({ x, n: 0 });
  page.turn('hidden');
  const second = await heldRun(session);
  stop.abort();
  await second.end;
  page.turn('hidden');
  await session.run({ x, n: 0 });
  await expect(session.pauseWhenHidden({ signal: stop.signal })).rejects.toMatchObject({
    name: 'AbortError',
  });
  await session.dispose();
});

test('a page that is hidden from the begin holds its runs', async () => {
  page.visibilityState = 'hidden';
  const session = await open();
  await session.pauseWhenHidden();
  const { end } = await heldRun(session);
  await session.dispose();
  await expect(end).rejects.toThrow('The session was disposed.');
  page.turn('visible');
});

test('what is hidden is stored', async () => {
  const saved: number[] = [];
  let tell: () => void = () => undefined;
  const store: SnapshotStore = {
    latest: async () => undefined,
    clear: async () => undefined,
    save: async (bytes) => {
      saved.push(bytes.byteLength);
      tell();
    },
  };
  const session = await open();
  const checkpoints = await session.checkpointTo(store, { everyMs: 1e9 });
  const paused = session.pause({ at: LOOP_PLACE, visit: 2 });
  session.run({ x, n: 5 }).catch(() => undefined);
  await paused;
  const once = new Promise<void>((resolve) => {
    tell = resolve;
  });
  page.turn('hidden');
  await once;
  expect(saved).toHaveLength(1);
  // Nothing has changed since.
  await checkpoints.now();
  expect(saved).toHaveLength(1);
  await checkpoints.stop();
  page.turn('hidden');
  await session.memory();
  expect(saved).toHaveLength(1);
  await session.dispose();
});
