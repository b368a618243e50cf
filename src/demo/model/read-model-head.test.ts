import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileOnnx } from '../../frontend/index.ts';
import { writeGguf } from '../../frontend/decoders/files/testing/gguf-writer.ts';
import { writeTflite } from '../../frontend/tflite/testing/tflite-writer.ts';
import type { ModelHead } from './model-head.ts';
import { readModelHead } from './read-model-head.ts';

const MODEL = new URL('../../../models/digits/model.onnx', import.meta.url);

/** The head of a file in memory, and how much of it was asked for. */
async function headOf(bytes: Uint8Array): Promise<ModelHead> {
  return readModelHead({
    byteLength: bytes.byteLength,
    read: async (begin, end) => bytes.subarray(begin, end),
  });
}

test('an ONNX model is described without its weights', async () => {
  const { operators, ...head } = await headOf(readFileSync(MODEL));
  expect(head).toMatchObject({
    format: 'onnx',
    inputs: ['image: float [1, 1, 28, 28]'],
    outputs: ['probabilities: float [1, 10]'],
    refusal: undefined,
  });
  expect(operators).toContainEqual({ name: 'Conv', count: 2 });
  // Two convolutions of 16 x 25 and 32 x 400 weights at 784 and 196 places, and a product of 512 x 10.
  expect(head.work?.operations).toBeGreaterThan(2 * (400 * 784 + 12_800 * 196 + 5120));
  expect(head.work?.operations).toBeLessThan(2.1 * (400 * 784 + 12_800 * 196 + 5120));
});

test('the estimate of an ONNX model is near to that of its executable', async () => {
  const bytes = readFileSync(MODEL);
  const onnx = await headOf(bytes);
  const weft = await headOf(compileOnnx(bytes).toBytes());
  expect(weft).toMatchObject({ format: 'weft', inputs: ['image: float32 [1, 1, 28, 28]'] });
  const ratio = (onnx.work?.operations ?? 0) / (weft.work?.operations ?? 1);
  expect(ratio).toBeGreaterThan(0.8);
  expect(ratio).toBeLessThan(1.25);
});

test('weights that are far behind are skipped', async () => {
  const bytes = readFileSync(MODEL);
  // Among them the two sizes of a reshape.
  let most = 0;
  const head = await readModelHead({
    byteLength: bytes.byteLength,
    read: async (begin, end) => {
      most = Math.max(most, end - begin);
      return bytes.subarray(begin, end);
    },
  });
  expect(most).toBeLessThanOrEqual(2 ** 16);
  expect(head.weightByteLength).toBe(4 * (400 + 16 + 12_800 + 32 + 5120 + 10) + 16);
});

test('of a TensorFlow Lite model operators that Weft lacks are told', async () => {
  const tensor = { dtype: 'float32', shape: [1, 4] } as const;
  const model = (op: string): Uint8Array =>
    writeTflite({
      graphs: [
        {
          tensors: { image: { ...tensor, signature: [-1, 4] }, scores: tensor },
          inputs: ['image'],
          outputs: ['scores'],
          operators: [{ op, inputs: ['image'], outputs: ['scores'] }],
        },
      ],
    });
  expect(await headOf(model('TANH'))).toMatchObject({
    format: 'tflite',
    inputs: ['image: float32 [-1, 4]'],
    outputs: ['scores: float32 [1, 4]'],
    operators: [{ name: 'TANH', count: 1 }],
    refusal: undefined,
  });
  expect((await headOf(model('Unheard'))).refusal).toContain('Unheard');
});

test.each([0, 3, 40, 2000])('a model that ends after %d bytes is no model', async (count) => {
  await expect(headOf(readFileSync(MODEL).subarray(0, count))).rejects.toThrow(
    /expected (an ONNX model|at least)/,
  );
});

test('a language model says its kind, and one that Weft does not read is refused by name', async () => {
  const tensors = [
    { name: 'token_embd.weight', shape: [4, 8], type: 'F32', bytes: new Uint8Array(128) },
  ];
  const written = (name: string): Uint8Array =>
    writeGguf({ metadata: { 'general.architecture': name, [`${name}.block_count`]: 2 }, tensors });
  expect(await headOf(written('llama'))).toMatchObject({
    format: 'gguf',
    inputs: ['text, of llama with 2 layers'],
    weightByteLength: 128,
    refusal: undefined,
    work: { per: 'token', launches: 20, operations: 64, bytes: 128 },
  });
  const { refusal } = await headOf(written('mamba'));
  expect(refusal).toBe(
    'general.architecture: got mamba, expected llama, qwen2, qwen3, gemma2, gemma3, phi3.',
  );
});
