import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTier } from '../testing/tier.ts';
import { FormatError, UsageError } from '../core/errors.ts';
import type { GenerateOptions } from './generate-options.ts';
import { openTestModel } from './testing/open-test-model.ts';
import type { Generation } from './generation.ts';
import type { TextModel } from './text-model.ts';

const PROMPT = [5, 200, 311, 17, 54];
const DEVICES = ['host', 'wasm', 'webgpu'] as const;

const models = new Map<string, TextModel>();
const modelOn = (device: string): TextModel => models.get(device) ?? fail(device);
const fail = (device: string): never => {
  throw new Error(`no model on ${device}`);
};
beforeAll(async () => {
  for (const device of DEVICES) models.set(device, await openTestModel(device));
});
afterAll(() => Promise.all([...models.values()].map((model) => model.dispose())));

/** Pieces up to some number of tokens. */
async function begin(generation: Generation, count: number): Promise<string> {
  let text = '';
  let taken = 0;
  for await (const token of generation.tokens()) {
    text += token.text;
    if (++taken === count) break;
  }
  return text;
}

const KINDS: Record<string, GenerateOptions> = {
  likeliest: { temperature: 0, maxTokens: 40 },
  'with a seed of its own': { temperature: 0.9, maxTokens: 40 },
  penalized: {
    temperature: 0.8,
    seed: 4,
    frequencyPenalty: 0.5,
    repetitionPenalty: 1.2,
    maxTokens: 40,
  },
  'with a string that ends it': { temperature: 0, maxTokens: 40, stop: ['never', 'e'] },
};

/** The host is as slow as it is plain. */
const MOVES = [
  ['wasm', 'webgpu'],
  ['webgpu', 'wasm'],
  ['wasm', 'wasm'],
  ['webgpu', 'host'],
] as const;

describe.each(MOVES.slice(0, inTier({ quick: 2, long: 4 })))('from %s to %s', (from, to) => {
  test.each(Object.entries(KINDS))('a text goes on, %s', async (kind, options) => {
    const seed = kind === 'with a seed of its own' ? 77 : (options.seed ?? 0);
    const whole = await modelOn(to)
      .generate(PROMPT, { ...options, seed })
      .text();
    for (const count of [1, 8, 11]) {
      const generation = modelOn(from).generate(PROMPT, { ...options, seed });
      const first = await begin(generation, count);
      if (generation.finishReason !== 'aborted') continue;
      const saved = await generation.save();
      const resumed = await modelOn(to).resume(saved);
      expect(first + (await resumed.text())).toBe(whole);
      expect(resumed.usage?.cachedTokens).toBe(PROMPT.length - 1);
    }
  });
});

test('nothing that was saved is read again, and it can be saved once more', async () => {
  const [from, to] = [modelOn('wasm'), await openTestModel('wasm')];
  const options = { temperature: 0.7, seed: 6, maxTokens: 90, logitBias: { 0: -100 } };
  const whole = await from.generate(PROMPT, options).text();
  const generation = from.generate(PROMPT, options);
  let text = await begin(generation, 20);
  const again = await to.resume(await generation.save());
  text += await begin(again, 30);
  expect(again.usage?.completionTokens).toBe(30);
  const last = await to.resume(await again.save());
  expect(text + (await last.text())).toBe(whole);
  expect(last.usage?.completionTokens).toBe(40);
  await to.dispose();
});

test('one that nobody has begun is saved too', async () => {
  const options = { temperature: 0, maxTokens: 12 };
  const model = modelOn('wasm');
  const saved = await model.generate([7, 8, 9], options).save();
  expect(await (await modelOn('host').resume(saved)).text()).toBe(
    await model.generate([7, 8, 9], options).text(),
  );
});

test('a text that is left with the token that ends it has ended', async () => {
  const options = { temperature: 0, maxTokens: 20, logitBias: { 0: 100 } };
  const generation = modelOn('wasm').generate(PROMPT, options);
  await begin(generation, 1);
  expect(generation.finishReason).toBe('stop');
  await expect(generation.save()).rejects.toThrow('got a generation that has ended');
});

test('a text that is left with what it stops at goes on with nothing', async () => {
  const model = modelOn('wasm');
  const plain = { temperature: 0, maxTokens: 20 };
  const pieces: string[] = [];
  for await (const { text } of model.generate(PROMPT, plain).tokens()) pieces.push(text);
  const stop = pieces.findIndex((piece, i) => i > 2 && piece.trim() !== '');
  const options = { ...plain, stop: [pieces[stop] ?? ''] };
  const whole = await model.generate(PROMPT, options).text();
  const generation = model.generate(PROMPT, options);
  let [text, count] = ['', 0];
  for await (const token of generation.tokens()) {
    text += token.text;
    count++;
    if (text === whole && count > stop) break;
  }
  const resumed = await model.resume(await generation.save());
  expect(await resumed.text()).toBe('');
  expect(resumed.finishReason).toBe('stop');
  expect(resumed.usage?.completionTokens).toBe(0);
});

test('a Buffer of Node, as files are read there', async () => {
  const model = modelOn('wasm');
  const options = { temperature: 0, maxTokens: 20 };
  const whole = await model.generate(PROMPT, options).text();
  const generation = model.generate(PROMPT, options);
  const first = await begin(generation, 9);
  const saved = Buffer.from(await generation.save());
  expect(first + (await (await model.resume(saved)).text())).toBe(whole);
});

describe('errors', () => {
  test('one that runs, and one that has ended', async () => {
    const generation = modelOn('wasm').generate(PROMPT, { temperature: 0, maxTokens: 3 });
    for await (const _ of generation.tokens()) {
      await expect(generation.save()).rejects.toThrow(
        'Generation.save: got a generation that runs, expected one whose loop was left before its end.',
      );
    }
    await expect(generation.save()).rejects.toThrow(UsageError);
  });

  test('other files, cut ones and those of other models', async () => {
    const model = modelOn('wasm');
    const generation = model.generate(PROMPT, { temperature: 0, maxTokens: 9 });
    await begin(generation, 4);
    const saved = await generation.save();
    await expect(model.resume(new Uint8Array(20))).rejects.toThrow(FormatError);
    await expect(model.resume(saved.slice(0, -8))).rejects.toThrow(FormatError);
    await expect(model.resume(saved.slice(0, 30))).rejects.toThrow(FormatError);
    const other = await openTestModel('wasm', { seed: 8 });
    await expect(other.resume(saved)).rejects.toThrow(
      'resume: got a generation of a model with other weights, expected one of this model.',
    );
    await other.dispose();
  });

  test.each<[string, (text: Record<string, unknown>) => object, string]>([
    ['an option', (text) => ({ options: { ...Object(text['options']), stop: 'a' } }), 'stop'],
    ['a name', (text) => ({ options: { ...Object(text['options']), stopp: [] } }), 'stopp'],
    ['no options', () => ({ options: 'all' }), 'got no options, expected what save()'],
    ['nothing as options', () => ({ options: undefined }), 'got no options, expected what save()'],
    ['a length', () => ({ length: 1e9 }), 'caches of 1000000000 tokens'],
    ['a length below 0', () => ({ length: -1 }), 'caches of -1 tokens'],
    ['tokens', () => ({ generated: ['constructor'] }), 'no lists of integers'],
  ])('%s that save() never wrote', async (_, change, message) => {
    const model = modelOn('wasm');
    const generation = model.generate(PROMPT, { temperature: 0, maxTokens: 9 });
    await begin(generation, 4);
    const damaged = withText(await generation.save(), change);
    await expect(model.resume(damaged)).rejects.toThrow(
      expect.objectContaining({
        name: 'FormatError',
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  test('a cache of a dtype that is the name of something else', async () => {
    const model = modelOn('wasm');
    const generation = model.generate(PROMPT, { temperature: 0, maxTokens: 9 });
    await begin(generation, 4);
    const damaged = withHead(await generation.save(), (head) =>
      head.replace(/"dtype":"\w+"/, '"dtype":"toString"'),
    );
    await expect(model.resume(damaged)).rejects.toThrow('of toString, cut off');
  });
});

/** A saved generation with other fields of its JSON. */
const withText = (saved: Uint8Array, change: (text: Record<string, unknown>) => object) =>
  withHead(saved, (json) => {
    const head = JSON.parse(json) as { __metadata__: { text: string } };
    const text = JSON.parse(head.__metadata__.text) as Record<string, unknown>;
    head.__metadata__.text = JSON.stringify({ ...text, ...change(text) });
    return JSON.stringify(head);
  });

function withHead(saved: Uint8Array, change: (head: string) => string): Uint8Array {
  const end = 8 + Number(new DataView(saved.buffer, saved.byteOffset).getBigUint64(0, true));
  const json = new TextEncoder().encode(change(new TextDecoder().decode(saved.subarray(8, end))));
  const length = new BigUint64Array([BigInt(json.length)]);
  return Buffer.concat([new Uint8Array(length.buffer), json, saved.subarray(end)]);
}
