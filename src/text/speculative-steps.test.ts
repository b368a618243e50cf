import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GenerateOptions } from './generate-options.ts';
import { PROMPT_GUESSER } from './speculative-steps.ts';
import { openTestModel } from './testing/open-test-model.ts';
import type { TextModel } from './text-model.ts';

const PROMPT = [5, 200, 311, 17, 54, 5, 200, 311, 17, 54, 5, 200, 311];
const KINDS: Record<string, GenerateOptions> = {
  likeliest: { temperature: 0, maxTokens: 60 },
  random: { temperature: 0.7, seed: 4, maxTokens: 61 },
  filtered: { temperature: 1.5, topK: 40, topP: 0.9, seed: 5, maxTokens: 30 },
  penalized: {
    temperature: 0.8,
    seed: 2,
    frequencyPenalty: 0.3,
    repetitionPenalty: 1.1,
    maxTokens: 40,
  },
  'of one token': { temperature: 0, maxTokens: 1 },
  'up to the context': { temperature: 0.5, seed: 8, logitBias: { 0: -100 } },
};

async function run(model: TextModel, options: GenerateOptions, prompt = PROMPT) {
  const generation = model.generate(prompt, options);
  const ids: number[] = [];
  const logprobs: number[] = [];
  for await (const { id, logprob } of generation.tokens()) {
    ids.push(id);
    logprobs.push(logprob);
  }
  return { ids, logprobs, usage: generation.usage, reason: generation.finishReason };
}

describe.each(['wasm', 'webgpu'] as const)('on %s', (device) => {
  let model: TextModel;
  let draft: TextModel;
  beforeAll(async () => {
    model = await openTestModel(device);
    draft = await openTestModel('wasm');
  });
  afterAll(() => Promise.all([model.dispose(), draft.dispose()]));

  test.each(Object.entries(KINDS))('%s texts are the plain ones', async (_, options) => {
    const plain = await run(model, options);
    for (const speculate of ['prompt', draft] as const) {
      const other = await run(model, { ...options, speculate });
      expect(other.ids).toEqual(plain.ids);
      expect(other.reason).toBe(plain.reason);
      for (const [i, logprob] of other.logprobs.entries()) {
        expect(logprob).toBeCloseTo(plain.logprobs[i] ?? 0, 2);
      }
    }
  });

  test('a draft that is the model itself is right, but for penalties', async () => {
    const { usage } = await run(model, {
      temperature: 0.8,
      seed: 3,
      maxTokens: 48,
      speculate: draft,
    });
    expect(usage?.guessedTokens).toBeGreaterThan(35);
    expect(usage?.rightGuesses).toBe(usage?.guessedTokens);
  });
});

describe('what the text said before', () => {
  test.each([
    [[1, 2, 3, 4, 1, 2], 3, [3, 4, 1]],
    [[1, 2, 3, 1, 2], 5, [3, 1, 2, 3, 1]],
    [[9, 1, 2, 7, 1, 2, 8, 1, 2], 2, [8, 1]],
    // The longest match decides, not the last.
    [[4, 3, 1, 2, 7, 5, 1, 2, 8, 3, 1, 2], 1, [7]],
    [[1, 2, 3, 4], 3, []],
    [[1], 3, []],
    [[6, 6, 6, 6, 6, 6], 2, [6, 6]],
  ])('%j', async (text, most, expected) => {
    expect(await PROMPT_GUESSER.guess(text, most)).toEqual(expected);
  });
});

describe('errors', () => {
  let model: TextModel;
  beforeAll(async () => {
    model = await openTestModel('host');
  });
  afterAll(() => model.dispose());

  test('guesses and a constraint', async () => {
    const constraint = await model.constraint({ type: 'json_object' });
    expect(() => model.generate([1], { constraint, speculate: 'prompt' })).toThrow(
      'generate: got constraint and speculate, expected one of them.',
    );
  });

  test('something else that guesses', () => {
    expect(() => model.generate([1], { speculate: 'text' } as unknown as GenerateOptions)).toThrow(
      'generate: got speculate "text", expected "prompt" or a TextModel.',
    );
  });
});
