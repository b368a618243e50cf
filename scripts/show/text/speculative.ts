import type { Checks } from './checks.ts';
import { BEGINS, NearTies, openStories, tokensOf } from './stories.ts';

const SEEDS = 10;
const TOKENS = 60;

/** Texts with guesses are those without, token by token. */
export async function show(checks: Checks): Promise<void> {
  checks.section('Guesses: the text is the one that comes without, whoever guesses');
  const [wasm, webgpu] = [await openStories('wasm'), await openStories('webgpu')];
  const ties = new NearTies(wasm);
  const kinds = { prompt: 'prompt', 'a draft model': wasm } as const;
  for (const [device, model] of Object.entries({ wasm, webgpu })) {
    for (const [kind, speculate] of Object.entries(kinds)) {
      for (const temperature of [0, 0.8]) {
        const found = { same: 0, of: 0, guessed: 0, right: 0 };
        for (const begin of BEGINS) {
          for (let seed = 0; seed < (temperature === 0 ? 1 : SEEDS); seed++) {
            const options = { temperature, seed, maxTokens: TOKENS };
            const plain = await tokensOf(model, begin, options);
            const generation = model.generate(begin, { ...options, speculate });
            const ids: number[] = [];
            for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
            found.of++;
            if (await ties.areSame(begin, options, [plain, ids])) found.same++;
            found.guessed += generation.usage?.guessedTokens ?? 0;
            found.right += generation.usage?.rightGuesses ?? 0;
          }
        }
        checks.check(
          found.same === found.of && found.guessed > 0,
          `${device}, ${kind}, temperature ${temperature}: ${found.same} of ${found.of} texts the same, ` +
            `${found.right} of ${found.guessed} guesses right`,
        );
      }
    }
  }
  checks.note(`${ties.count} of these texts part at scores as near as rounding`);
  await Promise.all([ties.dispose(), wasm.dispose(), webgpu.dispose()]);
}
