import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../core/random.ts';
import { DeviceScheduler, type DeviceShare, type DeviceTurn } from './device-scheduler.ts';

/** A device on which a launch takes as long as it is told, on a clock of its own. */
function simulation() {
  let nowMs = 0;
  let launches = 0;
  let pendingMs = 0;
  const order: string[] = [];
  const counters = () => ({ launches }) as ReturnType<SchedulerDevice['counters']>;
  const drain = async (): Promise<void> => {
    await Promise.resolve();
    nowMs += pendingMs;
    pendingMs = 0;
  };
  const scheduler = new DeviceScheduler({
    device: { counters, queue: { drain, settle: drain, isBusy: () => false } },
    now: () => nowMs,
  });
  const launch = (name: string, count: number, ms: number): void => {
    if (pendingMs > 0) throw new Error('two batches at a time');
    order.push(name);
    launches += count;
    pendingMs += count * ms;
  };
  return { scheduler, order, launch };
}

type SchedulerDevice = ConstructorParameters<typeof DeviceScheduler>[0]['device'];
type Simulation = ReturnType<typeof simulation>;

/** So many batches of one launch, each of which takes `ms`. */
async function run(
  { launch }: Simulation,
  [name, share]: readonly [string, DeviceShare],
  { batches, ms = 1 }: { readonly batches: number; readonly ms?: number },
): Promise<void> {
  for (let i = 0; i < batches; i++) {
    const turn = share.take();
    await turn.ready;
    launch(name, 1, ms);
    turn.end();
  }
}

/** Until so many batches were begun. */
async function begun({ order }: Simulation, count: number): Promise<void> {
  while (order.length < count) await Promise.resolve();
}

describe('a long run and a short one', () => {
  test.each([1, 2, 3, 8])('of %i batches ends within twice as many', async (batches) => {
    const world = simulation();
    const [long, short] = [world.scheduler.join(1), world.scheduler.join(1)];
    const running = run(world, ['L', long], { batches: 60 });
    await begun(world, 20);
    // The batch that is on the device counts as waited for.
    const before = world.order.length - 1;
    await run(world, ['S', short], { batches });
    expect(world.order.lastIndexOf('S') + 1 - before).toBeLessThanOrEqual(2 * batches);
    await running;
    expect(world.order.filter((name) => name === 'L')).toHaveLength(60);
  });

  test('take turns', async () => {
    const world = simulation();
    const [long, short] = [world.scheduler.join(1), world.scheduler.join(1)];
    const running = run(world, ['L', long], { batches: 8 });
    await begun(world, 2);
    await run(world, ['S', short], { batches: 3 });
    await running;
    expect(world.order.join('')).toBe('LLSLSLSLLLL');
  });
});

describe('shares of the device', () => {
  test('are as priorities are', async () => {
    const world = simulation();
    const [once, thrice] = [world.scheduler.join(1), world.scheduler.join(3)];
    const all = [
      run(world, ['1', once], { batches: 100 }),
      run(world, ['3', thrice], { batches: 60 }),
    ];
    await all[1];
    const count = world.order.filter((name) => name === '1').length;
    expect(count).toBeGreaterThanOrEqual(19);
    expect(count).toBeLessThanOrEqual(21);
    await all[0];
  });

  test('are shares of time, not of batches', async () => {
    const world = simulation();
    const [quick, slow] = [world.scheduler.join(1), world.scheduler.join(1)];
    const slowRun = run(world, ['s', slow], { batches: 10, ms: 5 });
    await Promise.all([slowRun, run(world, ['q', quick], { batches: 50, ms: 1 })]);
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect([quick.usedMs, slow.usedMs]).toEqual([50, 50]);
    const half = world.order.slice(0, 30);
    expect(half.filter((name) => name === 'q').length).toBeGreaterThanOrEqual(24);
  });

  test('are not saved up while idle', async () => {
    const world = simulation();
    const [busy, idle] = [world.scheduler.join(1), world.scheduler.join(1)];
    await run(world, ['i', idle], { batches: 1 });
    await run(world, ['b', busy], { batches: 100 });
    world.order.length = 0;
    const both = [
      run(world, ['b', busy], { batches: 10 }),
      run(world, ['i', idle], { batches: 10 }),
    ];
    await Promise.all(both);
    expect(world.order.join('')).toMatch(/^b?(ib)+i?$/);
  });

  test('nobody waits for more than one batch of each other one', async () => {
    const random = seededRandom(3);
    for (let round = 0; round < 20; round++) {
      const world = simulation();
      const names = ['a', 'b', 'c', 'd', 'e'];
      const runs = names.map((name) => {
        const batches = 5 + Math.floor(random() * 10);
        return run(world, [name, world.scheduler.join(1)], { batches });
      });
      await Promise.all(runs);
      for (const name of names) {
        const places = [...world.order.keys()].filter((i) => world.order[i] === name);
        const gaps = places.map((place, i) => place - (places[i - 1] ?? -1));
        expect(Math.max(...gaps)).toBeLessThanOrEqual(names.length);
      }
    }
  });
});

describe('a turn', () => {
  test('that is given up, waiting or granted, lets the next one have the device', async () => {
    const { scheduler, launch, order } = simulation();
    const [a, b, c] = [scheduler.join(1), scheduler.join(1), scheduler.join(1)];
    const turns: DeviceTurn[] = [a, b, c].map((share) => share.take());
    await turns[0]?.ready;
    turns[1]?.end();
    turns[0]?.end();
    await turns[2]?.ready;
    launch('c', 1, 1);
    turns[2]?.end();
    turns[2]?.end();
    const again = a.take();
    await again.ready;
    again.end();
    expect(order).toEqual(['c']);
  });

  test('is as long as runs of others are short', async () => {
    const world = simulation();
    const [long, short] = [world.scheduler.join(1), world.scheduler.join(1)];
    const limit = async (): Promise<number> => {
      const turn = long.take();
      await turn.ready;
      const { launchLimit } = turn;
      turn.end();
      return launchLimit;
    };
    expect(await limit()).toBe(16);
    await run(world, ['L', long], { batches: 4, ms: 0.5 });
    expect(await limit()).toBe(32);
    short.addRun(6);
    expect(await limit()).toBe(12);
    for (let i = 0; i < 10; i++) short.addRun(0.5);
    expect(await limit()).toBe(4);
    short.leave();
    expect(await limit()).toBe(32);
  });
});
