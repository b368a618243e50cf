import { TextModel } from '../../../src/text/index.ts';
import type { ContestantRequest, StartContestant } from './contestant.ts';

/** Tokens come in chunks of so many, and the next chunk is begun before one is read. */
const CHUNK = 8;

/** Weft on one thread, in its worker. */
export const startWeft =
  (precision: 'full' | 'fast'): StartContestant =>
  async ({ device, model: address }: ContestantRequest) => {
    const model = await TextModel.load(address, { device, threads: 1, precision, cache: false });
    const timed = async (ids: readonly number[], maxTokens: number): Promise<number> => {
      const begin = performance.now();
      const generation = model.generate(ids, { temperature: 0, maxTokens });
      let count = 0;
      for await (const { id } of generation.tokens()) if (id >= 0) count++;
      if (count < maxTokens) throw new Error('the text ended early');
      return performance.now() - begin;
    };
    return {
      prefill: ({ ids }) => timed(ids, 1),
      async decode({ ids }, count) {
        // The prompt's last token is read in any case.
        const first = await timed(ids, CHUNK);
        return ((await timed(ids, CHUNK + count)) - first) / count;
      },
    };
  };
