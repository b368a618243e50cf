import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { FileServer } from '../downloads/testing/file-server.ts';
import { MemoryFolder } from '../downloads/testing/memory-folders.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../testing/onnx-writer.ts';
import type { LoadProgress } from '../worker/protocol/load-request.ts';
import {
  ggufContents,
  ggufOf,
  randomDecoder,
  safetensorsOf,
} from '../frontend/decoders/architectures/testing/decoder-files.ts';
import { gemmaVocabulary } from '../frontend/decoders/files/testing/gguf-vocabularies.ts';
import { writeGguf } from '../frontend/decoders/files/testing/gguf-writer.ts';
import { splitGguf } from '../frontend/decoders/files/testing/split-gguf.ts';
import { modelCache } from './index.ts';
import { moveWeightsOutside } from './testing/move-weights-outside.ts';
import { testModelBytes } from './testing/open-test-model.ts';
import { storyFolder } from './testing/story-file.ts';
import type { TextLoadOptions } from './load/load-options.ts';
import { TextModel } from './text-model.ts';

const CONFIG = {
  model_type: 'llama',
  vocab_size: 512,
  hidden_size: 64,
  intermediate_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
};
const decoder = randomDecoder(CONFIG, 9);
const gguf = ggufOf(decoder);
const safetensors = safetensorsOf(decoder);
const config = new TextEncoder().encode(JSON.stringify(CONFIG));
const onnx = testModelBytes();

let server: FileServer;
beforeAll(async () => {
  server = await FileServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  server.files.clear();
  server.requests.length = 0;
  server.missing = 404;
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'config.json']) {
    const bytes = await storyFolder()(name);
    if (bytes) server.serve(`m/${name}`, bytes, { etag: '"1"' });
  }
});
afterEach(() => vi.unstubAllGlobals());

const load = (source: Parameters<typeof TextModel.load>[0], options: TextLoadOptions = {}) =>
  TextModel.load(source, { device: 'wasm', worker: false, ...options });

/** Tokens that the model generates at temperature 0. Disposes of the model. */
async function written(model: TextModel): Promise<number[]> {
  const ids: number[] = [];
  const generation = model.generate([5, 200, 311, 17], { temperature: 0, maxTokens: 12 });
  for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
  await model.dispose();
  return ids;
}

describe('what is no executable is compiled', () => {
  let ofDecoder: number[];
  let ofOnnx: number[];
  beforeAll(async () => {
    ofDecoder = await written(await load(storyFolder({ 'm.gguf': gguf }), { file: 'm.gguf' }));
    ofOnnx = await written(
      await load(storyFolder({ 'onnx/m.onnx': onnx }), { file: 'onnx/m.onnx' }),
    );
    expect(ofDecoder).toHaveLength(12);
    expect(ofOnnx).toHaveLength(12);
  });

  test('GGUF by its address, which says how many bytes there are', async () => {
    server.serve('m/a b.gguf', gguf, { etag: '"1"' });
    server.files.set('m/a%20b.gguf', server.serve('m/a b.gguf', gguf, { etag: '"1"' }));
    const progress: LoadProgress[] = [];
    const onProgress = (step: LoadProgress): void => void progress.push(step);
    expect(await written(await load(server.url('m/a b.gguf'), { onProgress }))).toEqual(ofDecoder);
    const steps = progress.filter(({ phase }) => phase === 'download');
    const total = decoder.tensors.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    expect(steps[0]).toEqual({ phase: 'download', loaded: 0, total });
    expect(steps.at(-1)).toEqual({ phase: 'download', loaded: total, total });
    expect(progress.map(({ phase }) => phase)).toContain('compile');
  });

  test('GGUF in several files, by its address or given', async () => {
    const parts = splitGguf(ggufContents(decoder), { prefix: 'm x', count: 3 });
    for (const [name, bytes] of Object.entries(parts)) {
      server.files.set(encodeURI(`m/${name}`), server.serve(`m/${name}`, bytes, { etag: '"1"' }));
    }
    const first = 'm x-00001-of-00003.gguf';
    const progress: LoadProgress[] = [];
    const onProgress = (step: LoadProgress): void => void progress.push(step);
    const model = await load(server.url(`m/${first}`), { onProgress });
    expect(await written(model)).toEqual(ofDecoder);
    const total = decoder.tensors.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    expect(progress.filter(({ phase }) => phase === 'download').at(-1)).toEqual({
      phase: 'download',
      loaded: total,
      total,
    });
    expect(await written(await load(storyFolder(parts), { file: first }))).toEqual(ofDecoder);
    await expect(load(server.url('m/m%20x-00002-of-00003.gguf'))).rejects.toThrow(
      `got another than the first of 3 files of a model, expected ${first}.`,
    );
  });

  test('GGUF without config.json', async () => {
    server.files.delete('m/config.json');
    server.serve('m/m.gguf', gguf);
    const model = await load(server.url('m/m.gguf'));
    expect(model.context).toBe(256);
    expect(await written(model)).toEqual(ofDecoder);
  });

  test('GGUF alone, which has its tokenizer and its template', async () => {
    const vocabulary = gemmaVocabulary(512);
    const template = '{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}';
    const metadata = { ...vocabulary, 'tokenizer.chat_template': template };
    server.serve('alone/m.gguf', ggufOf(decoder, {}, [], metadata));
    // A stub, as many folders have it.
    server.serve('alone/config.json', new TextEncoder().encode('{"model_type": "llama"}'));
    const model = await load(server.url('alone/m.gguf'));
    expect(model.context).toBe(256);
    const ids = await model.tokenizer.encode('quick brown');
    expect(ids[0]).toBe(await model.tokenizer.idOf('<bos>'));
    expect(await model.tokenizer.decode(ids)).toBe('quick brown');
    expect(model.chat([{ role: 'user', content: 'quick brown' }])).toBeDefined();
    expect(await written(model)).toHaveLength(12);
    // Nothing was asked for that a console would show as missing.
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(['alone/m.gguf']));
    server.serve('alone/m.gguf', gguf);
    await expect(load(server.url('alone/m.gguf'))).rejects.toThrow(
      'got a GGUF file without a tokenizer, and no tokenizer.json beside it, expected one of them.',
    );
  });

  test.each([403, 500, undefined])(
    'what may be missing is, where the server says %s',
    async (missing) => {
      server.missing = missing;
      server.files.delete('m/config.json');
      server.files.delete('m/tokenizer_config.json');
      server.serve('m/m.gguf', gguf);
      expect(await written(await load(server.url('m/m.gguf')))).toEqual(ofDecoder);
      server.files.delete('m/m.gguf');
      server.serve('m/config.json', config);
      server.serve('m/model.safetensors', safetensors);
      expect(await written(await load(server.url('m')))).toEqual(ofDecoder);
      server.files.delete('m/tokenizer.json');
      server.serve('m/m.gguf', gguf);
      const refused = await load(server.url('m/m.gguf')).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        name: 'UnsupportedError',
        cause: { message: expect.stringContaining('m/tokenizer.json: got ') },
      });
    },
  );

  test('a folder whose server refuses all', async () => {
    server.files.clear();
    server.missing = 403;
    await expect(load(server.url('m'))).rejects.toThrow(
      'got none of the files that a model may be in (',
    );
  });

  test('safetensors, in one file or several', async () => {
    server.serve('m/config.json', config);
    server.serve('m/model.safetensors', safetensors);
    expect(await written(await load(server.url('m')))).toEqual(ofDecoder);
    const names = { 'model-1.safetensors': 0, 'model-2.safetensors': 1 };
    const weightMap: Record<string, string> = {};
    for (const [name, part] of Object.entries(names)) {
      const tensors = decoder.tensors.filter((_, i) => i % 2 === part);
      for (const tensor of tensors) weightMap[tensor.name] = name;
      server.serve(`m/${name}`, safetensorsOf({ ...decoder, tensors }));
    }
    const index = new TextEncoder().encode(JSON.stringify({ weight_map: weightMap }));
    server.files.delete('m/model.safetensors');
    server.serve('m/model.safetensors.index.json', index);
    expect(await written(await load(server.url('m/')))).toEqual(ofDecoder);
  });

  test('a folder of transformers.js, with weights in the model or beside it', async () => {
    server.serve('m/onnx/model_fp16.onnx', onnx);
    expect(await written(await load(server.url('m/')))).toEqual(ofOnnx);
    const { model, data } = moveWeightsOutside(onnx, 'model_q4.onnx_data');
    server.serve('m/onnx/model_q4.onnx', model);
    server.serve('m/onnx/model_q4.onnx_data', data);
    expect(data.byteLength).toBeGreaterThan(model.byteLength);
    server.requests.length = 0;
    expect(await written(await load(server.url('m/onnx/model_q4.onnx')))).toEqual(ofOnnx);
    expect(server.requests.map(({ path }) => path)).toContain('m/onnx/model_q4.onnx_data');
    const files = { 'onnx/a.onnx': model, 'onnx/a.onnx_data': data };
    // The model says the name of the other file.
    await expect(load(storyFolder(files), { file: 'onnx/a.onnx' })).rejects.toThrow(
      'model_q4.onnx_data: got no such file, expected a file of the model.',
    );
  });

  test('a large model in ONNX, of which each byte is fetched once but for an outline', async () => {
    const layers = 4;
    const large = testModelBytes(7, false, { width: 256, inner: 1024, layers });
    const expected = await written(
      await load(storyFolder({ 'm.onnx': large }), { file: 'm.onnx' }),
    );
    for (const hasRanges of [true, false]) {
      server.serve('m/m.onnx', large, { hasRanges });
      server.requests.length = 0;
      expect(await written(await load(server.url('m/m.onnx')))).toEqual(expected);
      const asked = server.requests.filter(({ path }) => path === 'm/m.onnx');
      const sent = asked.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
      expect(asked.length).toBeLessThan(hasRanges ? 8 * layers + 8 : 4);
      expect(sent - large.byteLength).toBeLessThan(2 ** 20);
    }
  });

  test('files of the disk, by their paths', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weft-text-'));
    try {
      for (const name of ['tokenizer.json', 'config.json']) {
        await writeFile(join(folder, name), (await storyFolder()(name)) ?? '');
      }
      await writeFile(join(folder, 'm.gguf'), gguf);
      expect(await written(await load(join(folder, 'm.gguf')))).toEqual(ofDecoder);
      await expect(load(folder)).rejects.toThrow('got none of the files that a model may be in');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('over a connection that breaks, with fewer positions', async () => {
    const served = server.serve('m/m.gguf', gguf, { etag: '"1"' });
    served.cutAfter = gguf.byteLength / 3;
    const model = await load(server.url('m/m.gguf'), { context: 100 });
    expect(model.context).toBe(100);
    expect(await written(model)).toEqual(ofDecoder);
    expect(server.requests.filter(({ path }) => path === 'm/m.gguf').length).toBeGreaterThan(3);
    await expect(load(server.url('m/m.gguf'), { context: 1000 })).rejects.toThrow(
      /option context(Length)?: got 1000, expected an integer from 1 to 256, the model's context/,
    );
  });

  test('kept files serve a later load, without a connection too', async () => {
    const root = new MemoryFolder();
    vi.stubGlobal('navigator', { storage: { getDirectory: async () => root } });
    server.serve('m/model.safetensors', safetensors, { etag: '"1"' });
    server.serve('m/config.json', config, { etag: '"2"' });
    expect(await written(await load(server.url('m/')))).toEqual(ofDecoder);
    server.requests.length = 0;
    expect(await written(await load(server.url('m/')))).toEqual(ofDecoder);
    expect(server.requests.filter(({ method }) => method !== 'HEAD')).toEqual([]);
    expect((await modelCache.list()).map(({ url }) => url)).toContain(
      server.url('m/model.safetensors'),
    );
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')));
    expect(await written(await load(server.url('m/')))).toEqual(ofDecoder);
  });
});

describe('what is not supported is said before the weights are asked for', () => {
  const LARGE = 2 ** 24;
  const large = { name: 'w', shape: [LARGE / 4], type: 'F32', bytes: new Uint8Array(LARGE) };

  test('an architecture', async () => {
    const metadata = { 'general.architecture': 'mamba' };
    server.serve('m/m.gguf', writeGguf({ metadata, tensors: [large] }));
    await expect(load(server.url('m/m.gguf'))).rejects.toThrow(
      'general.architecture: got mamba, expected one of llama',
    );
    expect(server.sentBytes).toBeLessThan(LARGE / 2);
  });

  test('operators of a model with weights inside', async () => {
    const model = writeOnnxModel({
      inputs: [{ name: 'input_ids', dtype: 'int64', shape: ['b', 's'] }],
      nodes: [{ op: 'Frobnicate', inputs: ['input_ids', 'w'], outputs: ['logits'], name: 'first' }],
      outputs: ['logits'],
      initializers: { w: new HostTensor('float32', [LARGE / 4], new Float32Array(LARGE / 4)) },
    });
    server.serve('m/m.onnx', model);
    await expect(load(server.url('m/m.onnx'))).rejects.toThrow(
      'ONNX model: got 1 node of an unsupported operator (Frobnicate), expected operators that Weft has:\n  node "first"',
    );
    expect(server.sentBytes).toBeLessThan(LARGE / 2);
  });

  test('that a model with weights inside has no cache', async () => {
    const model = writeOnnxModel({
      inputs: [{ name: 'input_ids', dtype: 'int64', shape: ['b', 's'] }],
      nodes: [{ op: 'Gather', inputs: ['w', 'input_ids'], outputs: ['logits'] }],
      outputs: ['logits'],
      initializers: { w: new HostTensor('float32', [LARGE / 4], new Float32Array(LARGE / 4)) },
    });
    server.serve('m/m.onnx', model);
    await expect(load(server.url('m/m.onnx'))).rejects.toThrow(
      'language model: got a model without past_key_values.N.key, expected a decoder with a cache.',
    );
    expect(server.sentBytes).toBeLessThan(LARGE / 2);
  });

  test('inputs and shapes of a model with weights inside, which its first bytes do not tell', async () => {
    const [inputs, outputs] = [
      ['input_ids', 'attention_mask', 'past_key_values.0.key'],
      ['logits'],
    ];
    const weight = (...shape: number[]): HostTensor =>
      new HostTensor('float32', shape, new Float32Array(shape.reduce((a, b) => a * b)));
    const weights = { a: weight(1024, 1024), b: weight(1024, 1024), c: weight(512, 2048) };
    const node = (op: string, read: readonly string[], written: string): OnnxNodeSpec => ({
      op,
      inputs: read,
      outputs: [written],
      name: written,
    });
    const refusal = async (more: string[], nodes: OnnxNodeSpec[]): Promise<unknown> => {
      const model = writeOnnxModel({
        inputs: [...inputs, ...more].map((name) => ({ name, dtype: 'int64', shape: ['b', 's'] })),
        nodes: [
          { ...node('Concat', inputs, 'all'), attributes: { axis: 1 } },
          node('Gather', ['a', 'all'], 'x'),
          ...nodes,
        ],
        outputs,
        initializers: weights,
      });
      server.serve('m/m.onnx', model);
      server.requests.length = 0;
      const error = await load(server.url('m/m.onnx')).catch((thrown: unknown) => thrown);
      const asked = server.requests.filter(({ path }) => path === 'm/m.onnx');
      // The file is opened with its first block.
      const [first, ...others] = asked.map(({ sentBytes }) => sentBytes);
      expect(first).toBe(2 ** 21);
      expect(others.length).toBeLessThan(6);
      expect(others.reduce((a, b) => a + b)).toBeLessThan(2 ** 16);
      return error;
    };
    expect(await refusal(['beam'], [node('MatMul', ['x', 'b'], 'logits')])).toMatchObject({
      name: 'UnsupportedError',
      message: expect.stringContaining(
        'language model: got inputs input_ids, attention_mask, past_key_values.0.key, beam, expected',
      ),
    });
    expect(await refusal([], [node('MatMul', ['x', 'c'], 'logits')])).toMatchObject({
      name: 'ShapeError',
    });
  });

  test('a model of another kind with weights beside it', async () => {
    const model = writeOnnxModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 4] }],
      nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
      outputs: ['y'],
      externalInitializers: {
        w: { dtype: 'float32', shape: [4, LARGE / 16], place: { location: 'w' } },
      },
    });
    server.serve('m/m.onnx', model);
    server.serve('m/w', new Uint8Array(LARGE));
    await expect(load(server.url('m/m.onnx'))).rejects.toThrow('language model: got inputs x');
    expect(server.requests.map(({ path }) => path)).not.toContain('m/w');
  });

  test('a tokenizer that cannot be read ends the download', async () => {
    server.serve('m/tokenizer.json', new TextEncoder().encode('{'));
    // It never comes.
    server.serve('m/m.safetensors', safetensors, { cutAfter: 0 });
    const loading = load(server.url('m/m.safetensors'));
    await expect(loading).rejects.toThrow('tokenizer.json: got no JSON');
  });
});

test('a signal ends the download', async () => {
  const served = server.serve('m/m.gguf', gguf, { etag: '"1"' });
  const aborter = new AbortController();
  const onProgress = ({ phase, loaded }: LoadProgress): void => {
    if (phase === 'download' && loaded > 0) aborter.abort(new Error('enough'));
  };
  await expect(
    load(server.url('m/m.gguf'), { signal: aborter.signal, onProgress }),
  ).rejects.toThrow('enough');
  expect(served.bytes).toBe(gguf);
});

test('a hash that does not fit', async () => {
  server.serve('m/m.gguf', gguf, { etag: '"1"' });
  await expect(
    load(server.url('m/m.gguf'), { integrity: `sha256-${'A'.repeat(43)}=` }),
  ).rejects.toThrow(`${server.url('m/m.gguf')}: got a file of the hash sha256-`);
});

test('hashes of files that the model does not have, and beside a function that reads files', async () => {
  server.serve('m/m.gguf', gguf, { etag: '"1"' });
  const hash = `sha256-${createHash('sha256').update(gguf).digest('base64')}`;
  const address = server.url('m/m.gguf');
  await expect(load(address, { integrity: { 'n.gguf': hash } })).rejects.toThrow(
    'integrity, by files: got an unknown option "n.gguf", expected only m.gguf, config.json,',
  );
  const misplaced = { file: 'onnx/model.onnx', integrity: { 'model.onnx': hash } };
  await expect(load(server.url('m/'), misplaced)).rejects.toThrow(
    'got an unknown option "model.onnx", expected only onnx/model.onnx, config.json, tokenizer.json, ' +
      'generation_config.json, tokenizer_config.json, chat_template.jinja.',
  );
  const files = storyFolder({ 'm.gguf': gguf });
  await expect(load(files, { file: 'm.gguf', integrity: hash })).rejects.toThrow(
    'TextModel.load: got integrity beside a function that reads files, expected an address.',
  );
  const integrity = { 'm.gguf': hash, 'chat_template.jinja': hash };
  expect(await written(await load(address, { integrity }))).toHaveLength(12);
});

test('a hash that fits, of a file whose head the page got from another one', async () => {
  const vocabulary = gemmaVocabulary(512);
  const withTemplate = (template: string) =>
    ggufOf(decoder, {}, [], { ...vocabulary, 'tokenizer.chat_template': template });
  const [good, other] = [withTemplate('good'), withTemplate('evil')];
  const integrity = `sha256-${createHash('sha256').update(good).digest('base64')}`;
  server.serve('m/m.gguf', good);
  expect(await written(await load(server.url('m/m.gguf'), { integrity }))).toHaveLength(12);
  server.serve('m/m.gguf', other, { later: good });
  await expect(load(server.url('m/m.gguf'), { integrity })).rejects.toThrow(
    'got another begin of the file for the tokenizer than for the weights',
  );
});

test.each([
  [{ context: 0 }, 'TextModel.load: got context 0, expected an integer from 1 up.'],
  [{ cache: 'yes' }, 'TextModel.load: got cache "yes", expected true or false.'],
  [{ integrity: 1 }, 'TextModel.load: got integrity 1, expected a string or an object.'],
  [{ files: 'x' }, 'TextModel.load: got an unknown option "files"'],
])('%j', async (options, message) => {
  server.serve('m/m.gguf', gguf, { etag: '"1"' });
  await expect(load(server.url('m/m.gguf'), options as TextLoadOptions)).rejects.toThrow(message);
});
