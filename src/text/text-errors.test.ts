import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile } from '../compiler/compile.ts';
import { parseModule } from '../compiler/ir/text/parse.ts';
import { DownloadError, FormatError, UnsupportedError, UsageError } from '../core/errors.ts';
import { textModule } from '../frontend/decoders/text-module.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { openTestModel } from './testing/open-test-model.ts';
import type { GenerateOptions } from './generate-options.ts';
import { storyFolder } from './testing/story-file.ts';
import { TextModel } from './text-model.ts';

describe('options', () => {
  let model: TextModel;
  beforeAll(async () => {
    model = await openTestModel('host');
  });
  afterAll(() => model.dispose());

  test.each<[unknown, string]>([
    [{ temprature: 1 }, 'generate: got an unknown option "temprature", expected only maxTokens'],
    [{ temperature: '1' }, 'generate: got temperature "1", expected a number.'],
    [{ temperature: -1 }, 'temperature: got -1, expected 0 to 100.'],
    [{ temperature: Number.NaN }, 'generate: got temperature NaN, expected a number.'],
    [{ topK: -1 }, 'topK: got -1, expected 0 to 16777216.'],
    [{ topK: 2.5 }, 'topK: got 2.5, expected an integer.'],
    [{ topP: 1.1 }, 'topP: got 1.1, expected 0 to 1.'],
    [{ minP: 2 }, 'minP: got 2, expected 0 to 1.'],
    [{ repetitionPenalty: 0 }, 'repetitionPenalty: got 0, expected 0.01 to 100.'],
    [{ presencePenalty: 101 }, 'presencePenalty: got 101, expected -100 to 100.'],
    [{ frequencyPenalty: -101 }, 'frequencyPenalty: got -101, expected -100 to 100.'],
    [{ logitBias: { 512: 1 } }, 'logitBias: got 1 for the token 512, expected a finite number'],
    [{ logitBias: { 3: Infinity } }, 'logitBias: got Infinity for the token 3'],
    [{ logitBias: { a: 1 } }, 'logitBias: got 1 for the token NaN'],
    [{ seed: -1 }, 'seed: got -1, expected an integer from 0 to 2^53 - 1.'],
    [{ seed: 0.5 }, 'seed: got 0.5, expected an integer from 0 to 2^53 - 1.'],
    [{ maxTokens: -1 }, 'generate: got maxTokens -1, expected an integer from 0 up, or Infinity.'],
    [{ maxTokens: 1.5 }, 'generate: got maxTokens 1.5, expected an integer'],
    [{ maxTokens: Number.NaN }, 'generate: got maxTokens NaN, expected an integer'],
    [{ stop: [1] }, 'generate: got stop [1], expected a string with characters or a list, each'],
    [{ stop: '' }, 'generate: got stop "", expected a string with characters or a list, each'],
    [{ overflow: 'drop' }, 'generate: got overflow "drop", expected "error" or "slide".'],
    [{ constraint: {} }, 'generate: got constraint {}, expected an object with mask and accept.'],
    [{ signal: true }, 'generate: got signal true, expected an AbortSignal.'],
  ])('%j', (options, message) => {
    const call = () => model.generate([1], options as GenerateOptions);
    expect(call).toThrow(UsageError);
    expect(call).toThrow(message);
  });

  test.each<[number[], string]>([
    [[], 'prompt: got no token, expected at least one token'],
    [
      [5, 512],
      'prompt: got the token 512 at 1, expected at least one token, each an integer from 0 to 511.',
    ],
    [[-1], 'prompt: got the token -1 at 0'],
    [[1.5], 'prompt: got the token 1.5 at 0'],
  ])('the prompt %j', (prompt, message) => {
    expect(() => model.generate(prompt)).toThrow(message);
  });

  test('options in two objects', () => {
    const generate = model.generate.bind(model) as (...args: unknown[]) => unknown;
    const batch = model.generateBatch.bind(model) as (...args: unknown[]) => unknown;
    const message = ': got 3 arguments, expected at most 2.';
    expect(() => generate([1], { maxTokens: 4 }, { stop: 'x' })).toThrow(`generate${message}`);
    expect(() => batch([[1]], { maxTokens: 4 }, 5)).toThrow(`generateBatch${message}`);
  });

  test('the prompt is that of the call', async () => {
    const prompt = [5, 200, 311];
    const generation = model.generate(prompt, { temperature: 0, maxTokens: 4 });
    prompt.length = 0;
    expect(await generation.text()).toBe(
      await model.generate([5, 200, 311], { temperature: 0, maxTokens: 4 }).text(),
    );
  });
});

describe('folders', () => {
  const other = compile(
    parseModule('def @main(%x: Tensor[(2,), float32]) { add(%x, 1f) }'),
  ).toBytes();
  const load = (files: Readonly<Record<string, Uint8Array | undefined>>, options = {}) =>
    TextModel.load(storyFolder(files), { device: 'host', worker: false, ...options });
  const text = (content: string): Uint8Array => new TextEncoder().encode(content);

  test.each<
    [string, Record<string, Uint8Array | undefined>, new (...args: never[]) => Error, string]
  >([
    [
      'no config.json',
      { 'config.json': undefined, 'model.weft': other },
      DownloadError,
      'config.json: got no such file',
    ],
    [
      'no tokenizer.json',
      { 'tokenizer.json': undefined, 'model.weft': other },
      DownloadError,
      'tokenizer.json: got no such file',
    ],
    [
      'a broken tokenizer.json',
      { 'tokenizer.json': text('{"model"'), 'model.weft': other },
      FormatError,
      'tokenizer.json: got no JSON, expected an object in JSON.',
    ],
    [
      'a tokenizer.json that is none',
      { 'tokenizer.json': text('{}'), 'model.weft': other },
      FormatError,
      'expected a tokenizer that @huggingface/tokenizers reads',
    ],
    [
      'a list',
      { 'config.json': text('[]'), 'model.weft': other },
      FormatError,
      'config.json: got no object, expected an object in JSON.',
    ],
    [
      'no executable',
      { 'model.weft': undefined, 'onnx/model_fp16.onnx': undefined },
      UsageError,
      'folder of the model: got none of the files that a model may be in, expected one of model.weft, onnx/model_q4f16.onnx,',
    ],
    [
      'a model that is known and not read',
      {
        'model.weft': undefined,
        'onnx/model_fp16.onnx': undefined,
        'genai_config.json': text('{}'),
      },
      UsageError,
      'folder of the model: got a model of onnxruntime-genai (genai_config.json), which is not read, expected one of',
    ],
    [
      'a function that gives no bytes',
      { 'model.weft': '<html>' as never },
      UsageError,
      'the function that reads files, model.weft: got bytes that are "<html>", expected a Uint8Array.',
    ],
    [
      'another executable',
      { 'model.weft': other },
      UnsupportedError,
      'text model: got an executable with the functions main, expected one that generates text, with allocate, grow, cut, blank, hold, prefill, main, verify. Make it with `weft text` of this version.',
    ],
  ])('%s', async (_, files, type, message) => {
    const loading = load(files);
    await expect(loading).rejects.toThrow(message);
    await expect(loading).rejects.toBeInstanceOf(type);
  });

  test('fewer than one conversation', async () => {
    await expect(load({ 'model.weft': other }, { conversations: -1 })).rejects.toThrow(
      'TextModel.load: got conversations -1, expected an integer from 1 up.',
    );
  });
});

test('a model without caches', () => {
  const bytes = writeOnnxModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 2] }],
    nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
    outputs: ['y'],
  });
  expect(() => textModule(bytes)).toThrow(UnsupportedError);
  expect(() => textModule(bytes)).toThrow(
    'language model: got inputs x, expected input_ids, attention_mask, perhaps position_ids, and past_key_values.N.key and .value. Export the model for text generation with a cache',
  );
});

test.each(['host', 'wasm'] as const)(
  'logits that are no numbers end a text on %s',
  async (device) => {
    const model = await openTestModel(device, { isBroken: true });
    const message = /position 2: got logits that are no numbers \(NaN\), .* session\.verify names/;
    await expect(model.generate([5, 6], { temperature: 0, maxTokens: 3 }).text()).rejects.toThrow(
      message,
    );
    await expect(model.generateBatch([[5, 6]], { seed: 1, maxTokens: 3 }).text()).rejects.toThrow(
      'NaN',
    );
    await model.dispose();
  },
);
