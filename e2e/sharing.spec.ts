import { addWeights } from '../src/worker/testing/test-programs.ts';
import { expect, test } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';

declare const weft: SessionPage;

const SIZE = 100_000;

test('weights of a worker go to files and come back, and the files go with the sessions', async ({
  page,
}) => {
  let requests = 0;
  await page.route('**/files/weights.weft', (route) => {
    requests++;
    return route.fulfill({ body: Buffer.from(addWeights(SIZE).toBytes()) });
  });
  await page.goto('./e2e/pages/session.html');
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  const seen = await page.evaluate(async (size) => {
    const { configureWorker, Session, Tensor } = weft;
    const files = async (): Promise<number> => {
      const root = await navigator.storage.getDirectory();
      const folder = await root.getDirectoryHandle('weft-weights', { create: true });
      let count = 0;
      for await (const _ of folder.keys()) count++;
      return count;
    };
    configureWorker({ memoryBudget: 4 * 4 * size });
    const options = { device: 'webgpu' } as const;
    const sessions = await Promise.all(
      Array.from({ length: 4 }, () => Session.load('/files/weights.weft', options)),
    );
    const filesKept = await files();
    let wrong = 0;
    const ask = async (seed: number): Promise<void> => {
      const x = new Tensor('float32', new Float32Array(size).fill(seed), [1, size]);
      const y = (await sessions[seed % 4]?.run({ x }))?.['y'];
      if (y?.data.some((value, i) => value !== (i % 1000) + seed) !== false) wrong++;
    };
    for (let i = 0; i < 3; i++)
      await Promise.all(Array.from({ length: 8 }, (_, j) => ask(8 * i + j)));
    const memory = await Promise.all(sessions.map((session) => session.memory()));
    const evictions = memory.reduce((sum, { sharing }) => sum + (sharing?.evictions ?? 0), 0);
    const isBeyond = memory.some(
      ({ sharing }) => sharing === undefined || sharing.peakHeldBytes > sharing.budgetBytes,
    );
    for (const session of sessions) await session.dispose();
    return { wrong, filesKept, filesLeft: await files(), isBeyond, hasEvicted: evictions > 8 };
  }, SIZE);
  expect(seen).toEqual({
    wrong: 0,
    filesKept: 4,
    filesLeft: 0,
    isBeyond: false,
    hasEvicted: true,
  });
  expect(requests).toBe(4);
});
