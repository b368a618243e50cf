import { afterEach, describe, expect, test } from 'vitest';
import { ownGpu } from '../../testing/own-gpu.ts';
import { addWeights } from '../../worker/testing/test-programs.ts';
import { configureWorker, type LoadOptions, Session, Tensor } from '../index.ts';

const SIZE = 1024;
const WEIGHT_BYTES = SIZE * 4;

const ownPlace = async () => ({ worker: false, gpu: await ownGpu() }) as const;

describe.each(['host', 'webgpu'] as const)('sessions of one budget on %s', (device) => {
  const open: Session[] = [];

  async function load(options: LoadOptions): Promise<Session> {
    const session = await Session.load(addWeights(SIZE).toBytes(), { device, ...options });
    open.push(session);
    return session;
  }

  async function check(session: Session, seed: number): Promise<void> {
    const x = new Tensor('float32', new Float32Array(SIZE).fill(seed), [1, SIZE]);
    const { y } = await session.run({ x });
    expect(y?.data).toEqual(Float32Array.from({ length: SIZE }, (_, i) => (i % 1000) + seed));
  }

  async function counters(session: Session) {
    const { sharing } = await session.memory();
    if (sharing === undefined) throw new Error('the session shares nothing');
    return sharing;
  }

  afterEach(async () => {
    for (const session of open.splice(0)) await session.dispose();
  });

  test('weights of the least recently used go and come back; pinned ones stay', async () => {
    // Room for two weights, and for an input and an output.
    const memoryBudget = 2 * WEIGHT_BYTES + 2 * WEIGHT_BYTES;
    const place = await ownPlace();
    configureWorker({ ...place, memoryBudget });
    const pinned = await load({ ...place, pin: true });
    const [a, b] = [await load(place), await load(place)];
    for (let round = 0; round < 3; round++) {
      for (const [index, session] of [pinned, a, b].entries()) await check(session, index + round);
    }
    const seen = await Promise.all([pinned, a, b].map(counters));
    expect(
      seen.map(({ hits, misses, evictions, restores }) => [hits, misses, evictions, restores]),
    ).toMatchInlineSnapshot(`
        [
          [
            3,
            0,
            0,
            0,
          ],
          [
            0,
            3,
            4,
            3,
          ],
          [
            0,
            3,
            3,
            3,
          ],
        ]
      `);
    for (const { peakHeldBytes, budgetBytes } of seen) {
      expect(budgetBytes).toBe(memoryBudget);
      expect(peakHeldBytes).toBeLessThanOrEqual(memoryBudget);
    }
  });

  test('runs at the same time wait for room, and are all right', async () => {
    const memoryBudget = 4 * WEIGHT_BYTES;
    const place = await ownPlace();
    configureWorker({ ...place, memoryBudget });
    const sessions = await Promise.all([0, 1, 2, 3].map(() => load(place)));
    const order = Array.from({ length: 10 }, () => sessions.toReversed()).flat();
    await Promise.all(order.map((session, i) => check(session, i)));
    for (const session of sessions) {
      const { peakHeldBytes, hits, misses } = await counters(session);
      expect(hits + misses).toBe(10);
      expect(peakHeldBytes).toBeLessThanOrEqual(memoryBudget);
    }
  });
});

test('what is no budget is refused; sessions that share nothing say so', async () => {
  for (const memoryBudget of [0, -1, Number.NaN]) {
    expect(() => configureWorker({ worker: false, memoryBudget })).toThrow(
      `configureWorker: got memoryBudget ${memoryBudget}, expected bytes, above 0.`,
    );
  }
  const place = await ownPlace();
  const options = { ...place, device: 'host' } as const;
  const before = await Session.load(addWeights(4).toBytes(), options);
  configureWorker(place);
  const after = await Session.load(addWeights(4).toBytes(), options);
  expect((await before.memory()).sharing).toBe(undefined);
  expect((await after.memory()).sharing).toMatchObject({
    priority: 1,
    isPinned: false,
    budgetBytes: Infinity,
  });
  await before.dispose();
  await after.dispose();
});
