import { TextModel } from '../../../src/text/index.ts';
import type { ContestantRequest, StartContestant } from './contestant.ts';

/** Tokens come in chunks of so many, and the next chunk is begun before one is read. */
const CHUNK = 8;
/** Longer prompts are read on wasm and moved to WebGPU, where reading takes the adapter in software minutes. */
const LONG = 256;

/** Weft on one thread, in its worker. */
export const startWeft =
  (precision: 'full' | 'fast'): StartContestant =>
  async ({ device, model: address }: ContestantRequest) => {
    const load = (place: 'webgpu' | 'wasm') =>
      TextModel.load(address, { device: place, threads: 1, precision, cache: false });
    const model = await load(device);
    const moved = new Set<string>();
    const timed = async (ids: readonly number[], maxTokens: number): Promise<number> => {
      const begin = performance.now();
      const generation = model.generate(ids, { temperature: 0, maxTokens });
      let count = 0;
      for await (const { id } of generation.tokens()) if (id >= 0) count++;
      if (count < maxTokens) throw new Error('the text ended early');
      return performance.now() - begin;
    };
    /** Puts keys and values of a prompt into the model's caches. */
    const readElsewhere = async (ids: readonly number[]): Promise<void> => {
      await using reader = await load('wasm');
      const generation = reader.generate(ids, { temperature: 0, maxTokens: 2 * CHUNK });
      for await (const _ of generation.tokens()) break;
      await model.resume(await generation.save());
    };
    return {
      prefill: ({ ids }) => timed(ids, 1),
      async decode({ text, ids }, count) {
        if (device === 'webgpu' && ids.length > LONG && !moved.has(text)) {
          await readElsewhere(ids);
          moved.add(text);
        }
        // The prompt's last token is read in any case.
        const first = await timed(ids, CHUNK);
        return ((await timed(ids, CHUNK + count)) - first) / count;
      },
    };
  };
