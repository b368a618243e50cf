import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GeneratedToken, Generation } from './generation.ts';
import { openTestModel } from './testing/open-test-model.ts';
import type { GenerateOptions } from './generate-options.ts';
import type { TextModel } from './text-model.ts';

const PROMPT = [5, 200, 311, 17, 54];
const OTHER = [9, 44, 120, 301];
const RANDOM: GenerateOptions = { temperature: 1.2, topP: 0.98, seed: 11 };

/** The model, and one whose caches no other text has used. */
let model: TextModel;
beforeAll(async () => {
  model = await openTestModel('wasm');
});
afterAll(() => model.dispose());

async function all(generation: Generation): Promise<GeneratedToken[]> {
  const tokens: GeneratedToken[] = [];
  for await (const token of generation.tokens()) tokens.push(token);
  return tokens;
}
async function idsOf(generation: Generation): Promise<number[]> {
  return (await all(generation)).map(({ id }) => id).filter((id) => id >= 0);
}
const ids = (prompt: readonly number[], options: GenerateOptions): Promise<number[]> =>
  idsOf(model.generate(prompt, options));
/** The tokens of a newly loaded model, which has no caches yet. */
async function freshIds(prompt: readonly number[], options: GenerateOptions): Promise<number[]> {
  const fresh = await openTestModel('wasm');
  const tokens = await idsOf(fresh.generate(prompt, options));
  await fresh.dispose();
  return tokens;
}

describe('chunks', () => {
  test.each([
    ['likeliest', { temperature: 0 }],
    ['random', RANDOM],
    ['penalized', { ...RANDOM, frequencyPenalty: 0.7, repetitionPenalty: 1.3 }],
  ])('%s texts of all lengths are begins of one', async (_, options) => {
    const longest = await ids(PROMPT, { ...options, maxTokens: 33 });
    expect(longest.length).toBe(33);
    for (const maxTokens of [0, 1, 7, 8, 9, 16, 17]) {
      expect(await ids(PROMPT, { ...options, maxTokens })).toEqual(longest.slice(0, maxTokens));
    }
  });

  test('a seed gives one text, another one another', async () => {
    const text = await ids(PROMPT, { ...RANDOM, maxTokens: 16 });
    expect(await ids(PROMPT, { ...RANDOM, maxTokens: 16 })).toEqual(text);
    expect(await ids(PROMPT, { ...RANDOM, seed: 12, maxTokens: 16 })).not.toEqual(text);
    expect(await ids(PROMPT, { ...RANDOM, seed: 11 + 2 ** 32, maxTokens: 16 })).not.toEqual(text);
  });

  test('a token that ends the text ends it in the middle of a chunk', async () => {
    const longest = await ids(PROMPT, { temperature: 0, maxTokens: 16 });
    // Token 0 is the end; it is far likelier than others after the tenth token.
    const generation = model.generate([...PROMPT, ...longest.slice(0, 10)], {
      temperature: 0,
      logitBias: { 0: 100 },
      maxTokens: 16,
    });
    expect(await idsOf(generation)).toEqual([0]);
    expect(generation.finishReason).toBe('stop');
    expect(generation.usage).toMatchObject({ completionTokens: 1 });
    expect(await ids(PROMPT, { temperature: 0, maxTokens: 16 })).toEqual(longest);
  });

  test.each([3, 8, 13])('a string that ends the text, behind %i tokens', async (count) => {
    const whole = await model.generate(PROMPT, { temperature: 0, maxTokens: 24 }).text();
    const text = await model.generate(PROMPT, { temperature: 0, maxTokens: count }).text();
    const stop = whole.slice(text.length - 1, text.length + 3);
    const generation = model.generate(PROMPT, {
      temperature: 0,
      maxTokens: 24,
      stop: ['never', stop],
    });
    const pieces: string[] = [];
    for await (const piece of generation) pieces.push(piece);
    expect(pieces.join('')).toBe(whole.slice(0, whole.indexOf(stop)));
    expect(pieces).not.toContain('');
    expect(generation.finishReason).toBe('stop');
  });

  test('pieces together are the text of all tokens', async () => {
    const tokens = await all(model.generate(PROMPT, { ...RANDOM, maxTokens: 40 }));
    const text = await model.tokenizer.decode(tokens.map(({ id }) => id).filter((id) => id >= 0));
    expect(tokens.map((token) => token.text).join('')).toBe(text);
  });
});

describe('an end before the end', () => {
  test('a signal that is aborted already', async () => {
    const generation = model.generate(PROMPT, { signal: AbortSignal.abort(new Error('no')) });
    expect(await generation.text()).toBe('');
    expect(generation.finishReason).toBe('aborted');
  });

  test('a signal that is aborted in between', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const generation = model.generate(PROMPT, { temperature: 0, maxTokens: 200, signal });
    let count = 0;
    const run = async (): Promise<void> => {
      for await (const _ of generation.tokens()) {
        if (++count === 10) controller.abort(new Error('enough'));
      }
    };
    await run();
    expect(count).toBe(16);
    expect(generation.finishReason).toBe('aborted');
    expect(generation.usage?.completionTokens).toBe(16);
    const after = await ids(PROMPT, { temperature: 0, maxTokens: 20 });
    expect(after).toEqual(await freshIds(PROMPT, { temperature: 0, maxTokens: 20 }));
  });

  test('a loop that is left gives the caches back as they are right', async () => {
    for (const at of [1, 8, 11]) {
      const taken: number[] = [];
      const generation = model.generate(PROMPT, { temperature: 0, maxTokens: 60 });
      for await (const { id } of generation.tokens()) {
        taken.push(id);
        if (taken.length === at) break;
      }
      expect(generation.usage?.completionTokens).toBe(at);
      expect(generation.finishReason).toBe('aborted');
      const next = model.generate([...PROMPT, ...taken, 77], { temperature: 0, maxTokens: 9 });
      const rest = await idsOf(next);
      expect(next.usage?.cachedTokens).toBe(PROMPT.length + at);
      expect(rest).toEqual(
        await freshIds([...PROMPT, ...taken, 77], { temperature: 0, maxTokens: 9 }),
      );
    }
  });

  test('a generation is iterated over once', async () => {
    const generation = model.generate(PROMPT, { maxTokens: 1 });
    await generation.text();
    await expect(generation.text()).rejects.toThrow(
      'Generation: got a second iteration, expected one iteration; generate again for another text.',
    );
  });

  test('memory is the same after many of them', async () => {
    const run = async (): Promise<void> => {
      for await (const _ of model.generate(PROMPT, { ...RANDOM, presencePenalty: 1 }).tokens())
        break;
      for await (const _ of model.generate(PROMPT, RANDOM).tokens()) break;
    };
    for (let i = 0; i < 3; i++) await run();
    const { liveBytes } = await model.session.memory();
    for (let i = 0; i < 5; i++) await run();
    expect((await model.session.memory()).liveBytes).toBe(liveBytes);
  });
});

describe('texts that share their begin', () => {
  test('what is there is not read again', async () => {
    const own = await openTestModel('wasm');
    const first = await idsOf(own.generate(PROMPT, { temperature: 0, maxTokens: 12 }));
    const cases = [
      { prompt: PROMPT, cached: 4 },
      { prompt: [...PROMPT, ...first.slice(0, 6), 300, 301], cached: 11 },
      { prompt: [...PROMPT, 8, 9], cached: 5 },
      { prompt: PROMPT.slice(0, 3), cached: 2 },
      // The cache of the first text is still there.
      { prompt: [...PROMPT.slice(0, 4), 55], cached: 4 },
      { prompt: OTHER, cached: 0 },
    ];
    for (const { prompt, cached } of cases) {
      const options = { temperature: 0, maxTokens: 9 };
      const generation = own.generate(prompt, options);
      expect(await idsOf(generation), String(prompt)).toEqual(await freshIds(prompt, options));
      expect(generation.usage?.cachedTokens, String(prompt)).toBe(cached);
    }
    await own.dispose();
  });

  test('of several at once each is what it is alone', async () => {
    const prompts = [PROMPT, OTHER, [...PROMPT, 7], PROMPT, [400, 3], [9, 44], [1, 2, 3, 4]];
    const options = { ...RANDOM, maxTokens: 20 };
    const alone = [];
    for (const prompt of prompts) alone.push(await ids(prompt, options));
    expect(await Promise.all(prompts.map((prompt) => ids(prompt, options)))).toEqual(alone);
    // More than there are caches, one after the other.
    for (const [i, prompt] of prompts.entries())
      expect(await ids(prompt, options)).toEqual(alone[i]);
  });
});

describe('room', () => {
  test('grows within a text', async () => {
    const own = await openTestModel('wasm');
    const tokens = await idsOf(
      own.generate(PROMPT, { temperature: 0, maxTokens: 150, logitBias: { 0: -100 } }),
    );
    expect(tokens.length).toBe(150);
    // A text that needs more from the begin on.
    const ahead = Array.from({ length: 140 }, (_, i) => (i % 200) + 1);
    await own.generate(ahead, { maxTokens: 1 }).text();
    const roomy = await idsOf(
      own.generate([...PROMPT, ...tokens.slice(0, 128)], {
        temperature: 0,
        maxTokens: 22,
        logitBias: { 0: -100 },
      }),
    );
    expect(roomy).toEqual(tokens.slice(128));
    await own.dispose();
  });

  const full = Array.from({ length: 250 }, (_, i) => ((i * 31) % 500) + 1);
  const options: GenerateOptions = { temperature: 0, logitBias: { 0: -100 } };

  test('ends with the context', async () => {
    expect(() => model.generate(full, { ...options, maxTokens: 20 })).toThrow(
      "maxTokens: got 20 behind 250 tokens, expected at most 6, because the model sees 256 at a time. Shorten the prompt, or let the text slide with overflow: 'slide'.",
    );
    const generation = model.generate(full, options);
    expect((await idsOf(generation)).length).toBe(6);
    expect(generation.finishReason).toBe('length');
    expect(() => model.generate([...full, ...full], options)).toThrow(
      'prompt: got 500 tokens, expected at most 255, because the model sees 256 at a time.',
    );
  });

  test('goes on where a text slides', async () => {
    const slide = { ...options, overflow: 'slide', maxTokens: 20 } as const;
    const tokens = await ids(full, slide);
    expect(tokens.length).toBe(20);
    const text = [...full, ...tokens.slice(0, 6)];
    const left = [...text.slice(0, 4), ...text.slice(128 + 4)];
    expect(await freshIds(left, { ...options, maxTokens: 14 })).toEqual(tokens.slice(6));
    // A prompt that is longer than the model sees.
    const long = [...full, ...full.slice(0, 100)];
    const rest = [...long.slice(0, 4), ...long.slice(175 + 4)];
    expect(await ids(long, slide)).toEqual(await freshIds(rest, { ...options, maxTokens: 20 }));
  });
});
