import { describe, expect, test } from 'vitest';
import { Admission, type ResidentSession } from './admission.ts';

/** A session that has numbers only, and logs its evictions. */
class FakeSession implements ResidentSession {
  readonly name: string;
  readonly weightBytes: number;
  isPinned = false;
  isResident = true;
  liveBytes = 0;
  runBytes: number | undefined = 0;
  readonly #log: string[];

  constructor(name: string, weightBytes: number, log: string[]) {
    this.name = name;
    this.weightBytes = weightBytes;
    this.#log = log;
  }

  countRuns(count: number): void {
    this.runBytes ??= 0;
    this.#log.push(`${this.name} ran, ${count} at a time`);
  }

  evict(): void {
    this.isResident = false;
    this.#log.push(`evict ${this.name}`);
  }
}

function world(byteBudget: number) {
  let now = 0;
  const log: string[] = [];
  const admission = new Admission({ byteBudget: () => byteBudget, now: () => now++ });
  const add = (name: string, weightBytes: number): FakeSession => {
    const session = new FakeSession(name, weightBytes, log);
    admission.add(session);
    return session;
  };
  const use = async (session: ResidentSession): Promise<void> => {
    await admission.enter(session);
    admission.leave(session);
  };
  /** Begins a run, and sets `isIn` when it is let in. */
  const entering = (session: ResidentSession, options = {}) => {
    const state = { isIn: false, done: Promise.resolve() };
    const enter = async (): Promise<void> => {
      await admission.enter(session, options);
      state.isIn = true;
    };
    state.done = enter();
    return state;
  };
  return { admission, log, add, use, entering };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('eviction', () => {
  test('goes by last use, whatever the order of loading', async () => {
    const { admission, log, add, use } = world(100);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => add(name, 10));
    for (const session of [c, a, d, b, a]) if (session) await use(session);
    log.length = 0;
    admission.makeRoom(1);
    expect(log).toEqual(['evict c']);
    admission.makeRoom(11);
    expect(log).toEqual(['evict c', 'evict d', 'evict b']);
    admission.makeRoom(1000);
    expect(log.at(-1)).toBe('evict a');
  });

  test('spares what is pinned, what runs, and what has nothing to give', async () => {
    const { admission, log, add, use } = world(100);
    const pinned = add('pinned', 10);
    pinned.isPinned = true;
    const running = add('running', 10);
    const empty = add('empty', 0);
    const idle = add('idle', 10);
    for (const session of [pinned, empty, idle]) await use(session);
    await admission.enter(running);
    log.length = 0;
    admission.makeRoom(1000);
    expect(log).toEqual(['evict idle']);
    admission.leave(running);
    admission.makeRoom(1000);
    expect(log.at(-1)).toBe('evict running');
    expect(pinned.isResident && empty.isResident).toBe(true);
  });
});

describe('a run', () => {
  test('waits while weights and tensors of all that run do not fit together', async () => {
    const { admission, add, entering } = world(100);
    const [a, b] = [add('a', 40), add('b', 40)];
    a.runBytes = 15;
    b.runBytes = 15;
    await admission.enter(a);
    const second = entering(b);
    await settled();
    expect(second.isIn).toBe(false);
    admission.leave(a);
    await second.done;
    b.runBytes = 5;
    await entering(a).done;
  });

  test('counts pinned weights, and tensors that idle sessions keep', async () => {
    const { admission, add, entering } = world(100);
    const [a, b] = [add('a', 40), add('b', 40)];
    const idle = add('idle', 10);
    idle.isPinned = true;
    idle.liveBytes = 15;
    await admission.enter(a);
    const second = entering(b);
    await settled();
    expect(second.isIn).toBe(false);
    idle.liveBytes = 10;
    await Promise.all([entering(a).done.then(() => admission.leave(a)), second.done]);
  });

  test('waits in order; eight runs that find their weights may overtake it, and no more', async () => {
    const { admission, add, entering } = world(100);
    const [busy, large] = [add('busy', 20), add('large', 90)];
    const [here, gone] = [add('here', 5), add('gone', 5)];
    gone.isResident = false;
    await admission.enter(busy);
    const big = entering(large);
    const late = entering(gone);
    const runs = Array.from({ length: 12 }, () => entering(here));
    await settled();
    expect([big.isIn, late.isIn]).toEqual([false, false]);
    expect(runs.map(({ isIn }) => isIn)).toEqual(runs.map((_, i) => i < 8));
    for (let i = 0; i < 8; i++) admission.leave(here);
    await settled();
    expect([big.isIn, runs[8]?.isIn]).toEqual([false, false]);
    admission.leave(busy);
    await Promise.all([big, late, ...runs].map(({ done }) => done));
  });

  test('is let in alone when it would not fit at all, to fail by itself', async () => {
    const { admission, add } = world(100);
    const huge = add('huge', 1000);
    await admission.enter(huge);
    admission.leave(huge);
  });

  test('goes alone the first time, and when it is told to', async () => {
    const { admission, log, add, entering } = world(100);
    const [known, fresh] = [add('known', 1), add('fresh', 1)];
    fresh.runBytes = undefined;
    await admission.enter(known);
    const first = entering(fresh);
    await settled();
    expect(first.isIn).toBe(false);
    admission.leave(known);
    await first.done;
    const beside = entering(known);
    await settled();
    expect(beside.isIn).toBe(false);
    admission.leave(fresh);
    await beside.done;
    expect(log).toEqual(['known ran, 1 at a time', 'fresh ran, 1 at a time']);
    const alone = entering(fresh, { alone: true });
    await settled();
    expect(alone.isIn).toBe(false);
    admission.leave(known);
    await alone.done;
  });

  test('goes in at once where it joins one of its session, which may wait for it', async () => {
    const { admission, log, add, entering } = world(100);
    const [fresh, other] = [add('fresh', 1), add('other', 1)];
    fresh.runBytes = undefined;
    const early = entering(fresh, { joins: true });
    await early.done;
    const beside = entering(other);
    await entering(fresh, { joins: true }).done;
    admission.leave(fresh);
    await settled();
    expect(beside.isIn).toBe(false);
    admission.leave(fresh);
    await beside.done;
    // All that it took is that of one run.
    expect(log).toEqual(['fresh ran, 1 at a time']);
    const large = add('large', 60);
    large.runBytes = 50;
    const stuck = entering(large, { joins: true });
    await settled();
    expect(stuck.isIn).toBe(false);
    admission.leave(other);
    await stuck.done;
    await entering(large, { joins: true }).done;
  });

  test('that is aborted waits no longer, and holds up nobody', async () => {
    const { admission, add, entering } = world(100);
    const [a, b, c] = [add('a', 60), add('b', 60), add('c', 30)];
    c.isResident = false;
    await admission.enter(a);
    const stop = new AbortController();
    const waiting = admission.enter(b, { signal: stop.signal });
    const behind = entering(c);
    await settled();
    expect(behind.isIn).toBe(false);
    stop.abort(new Error('not any more'));
    await expect(waiting).rejects.toThrow('not any more');
    await behind.done;
    await expect(admission.enter(b, { signal: stop.signal })).rejects.toThrow('not any more');
  });
});
