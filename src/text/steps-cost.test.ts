import { expect, test, vi } from 'vitest';
import type { CacheType } from '../core/text-layout.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { openTestModel } from './testing/open-test-model.ts';
import type { GenerateOptions } from './generate-options.ts';

/** How many tokens a chunk has. */
const CHUNK = 8;
/** How many tokens are generated: with the prompt they fit the first caches, so that none grows. */
const LENGTH = 112;
/** Until then buffers take their turns and calls are recorded. */
const SETTLED = 5;

const KINDS: Record<string, GenerateOptions> = {
  likeliest: { temperature: 0 },
  random: { seed: 1 },
  filtered: { seed: 1, topK: 40, topP: 0.9 },
  penalized: { seed: 1, presencePenalty: 0.5 },
};

/** The small model, and what its machine and device have done so far. */
async function openCounted(device: 'wasm' | 'webgpu', cacheType: CacheType | undefined) {
  const original = VirtualMachine.create.bind(VirtualMachine);
  const create = vi.spyOn(VirtualMachine, 'create');
  // No kernel is compiled later, while nothing runs.
  create.mockImplementation((executable, options) =>
    original(executable, { ...options, compile: 'ahead' }),
  );
  const model = await openTestModel(device, cacheType ? { cacheType } : {});
  const machine = await create.mock.results[0]?.value;
  const used = create.mock.calls[0]?.[1].devices?.[0];
  create.mockRestore();
  if (machine === undefined || used === undefined) throw new Error('no machine');
  const counts = () => {
    const { buffersCreated, bindGroupsCreated, pipelinesCreated, launches, readbacks } =
      used.counters();
    const { interpreted, replayed } = machine.replays();
    const made = { buffersCreated, bindGroupsCreated, pipelinesCreated };
    return { ...made, launches, readbacks, interpreted, replayed };
  };
  return { model, counts };
}

test.each([
  ['wasm', undefined],
  ['webgpu', undefined],
  ['wasm', 'int8'],
  ['webgpu', 'int8'],
] as const)(
  'a chunk makes nothing and is replayed on %s, with caches of %s',
  async (device, cacheType) => {
    const { model, counts } = await openCounted(device, cacheType);
    await model.generate([5, 200, 311], { maxTokens: 1 }).text();
    // How tokens are drawn has nothing to do with caches.
    const kinds = Object.entries(KINDS).slice(0, cacheType === undefined ? undefined : 1);
    for (const [kind, options] of kinds) {
      const chunks: ReturnType<typeof counts>[] = [];
      let count = 0;
      const generation = model.generate([5, 200, 311, 17, 54], { ...options, maxTokens: LENGTH });
      for await (const _ of generation.tokens()) if (count++ % CHUNK === 0) chunks.push(counts());
      // The last chunks are begun as the ones before them are read.
      expect(chunks.length, kind).toBeGreaterThan(SETTLED + 4);
      const settled = chunks.slice(SETTLED, -1);
      const launches = new Set<number>();
      for (const [i, after] of settled.entries()) {
        const before = settled[i - 1];
        if (before === undefined) continue;
        launches.add(after.launches - before.launches);
        expect(after, `${kind}, chunk ${i + SETTLED}`).toEqual({
          ...before,
          launches: after.launches,
          readbacks: before.readbacks + 1,
          replayed: before.replayed + 1,
        });
      }
      // As many at the begin of a text as at its end.
      expect(launches.size, kind).toBe(1);
    }
    await model.dispose();
  },
);
