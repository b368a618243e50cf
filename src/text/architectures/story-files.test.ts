import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { STORY_SIZES } from '../../../scripts/train/stories/story-network.ts';
import { StoryReader } from '../../../scripts/train/stories/story-reader.ts';
import { decodeFloat16 } from '../../core/float16-arrays.ts';
import { readMessage } from '../../frontend/onnx/protobuf/read-message.ts';
import { tensorFromProto } from '../../frontend/onnx/protobuf/read-tensor.ts';
import { createWasmDevice } from '../../device/wasm/wasm-device.ts';
import { DecodeRunner, loadFrom } from './testing/decode-runner.ts';
import { decoderOf, type TestedDecoder } from './testing/decoder-files.ts';
import { fromGguf, fromSafetensors, type OpenedFile, worst } from './testing/expect-reference.ts';
import { referenceLogits, type TestedConfig } from './testing/reference-decoder.ts';

const read = (name: string): Buffer =>
  readFileSync(new URL(`../../../public/models/stories/${name}`, import.meta.url));

const ONNX = read('onnx/model_fp16.onnx');
const CONFIG = JSON.parse(read('config.json').toString()) as TestedConfig;

/** A prompt and how it goes on, and a shorter one. */
const ROWS = [
  Array.from({ length: 24 }, (_, i) => (i * 37 + 5) % 512),
  Array.from({ length: 14 }, (_, i) => (i * 101 + 60) % 512),
];
const PROMPTS = [18, 8];

/** The story model, its weights under the names and in the layout of transformers. */
function storyDecoder(): TestedDecoder {
  const { graph } = readMessage('ModelProto', ONNX);
  const initializers = new Map((graph?.initializer ?? []).map((proto) => [proto.name, proto]));
  const { num_hidden_layers: layers } = CONFIG;
  const onnxName = (name: string): string =>
    name === 'model.norm.weight'
      ? `model.layers.${layers}.final_norm_layernorm.weight`
      : name.replace('self_attn', 'attn').replace(/_proj\.weight$/, '_proj.MatMul.weight');
  const elements = (name: string, [rows = 1, columns = 1]: readonly number[]): Float32Array => {
    const proto = initializers.get(onnxName(name));
    if (proto === undefined) throw new Error(`no initializer ${onnxName(name)}`);
    const values = decodeFloat16(tensorFromProto(proto, name).data as Uint16Array);
    // ONNX multiplies by matrices [inputs, outputs].
    if (!name.includes('_proj')) return values;
    return values.map((_, i) => values[(i % columns) * rows + Math.floor(i / columns)] ?? 0);
  };
  return decoderOf(CONFIG, elements, () => 'F16');
}

const decoder = storyDecoder();

/** Logits behind each token from the last of the prompts on, by row. */
async function logitsOf({ file, bytes }: OpenedFile): Promise<number[][][]> {
  const runner = await DecodeRunner.open(await loadFrom(file, bytes), createWasmDevice());
  runner.start([2, CONFIG.num_key_value_heads, 32, CONFIG.head_dim], CONFIG.num_hidden_layers);
  const steps = [
    await runner.step(
      ROWS.map((row, i) => row.slice(0, PROMPTS[i])),
      [0, 0],
    ),
  ];
  for (let step = 0; step < 6; step++) {
    const places = PROMPTS.map((length) => length + step);
    const next = places.map((place, row) => [ROWS[row]?.[place] ?? 0]);
    steps.push(await runner.step(next, places));
  }
  return ROWS.map((_, row) => steps.map((logits) => logits[row] ?? []));
}

let logits: number[][][];
beforeAll(async () => {
  logits = await logitsOf(fromGguf(decoder));
});

test('the story model as GGUF computes what the ONNX model does, but for its float16', async () => {
  const reader = await StoryReader.open(ONNX, STORY_SIZES);
  for (const [row, tokens] of ROWS.entries()) {
    const { logits: all } = await reader.read([tokens]);
    const { vocabulary } = STORY_SIZES;
    const last = (PROMPTS[row] ?? 0) - 1;
    for (const [step, own] of (logits[row] ?? []).entries()) {
      const at = (last + step) * vocabulary;
      expect(worst(own, [...all.subarray(at, at + vocabulary)])).toBeLessThan(0.05);
    }
  }
  await reader.dispose();
});

test('it computes what plain loops over its weights do', () => {
  for (const [row, tokens] of ROWS.entries()) {
    const expected = referenceLogits(CONFIG, decoder.weights, tokens);
    for (const [step, own] of (logits[row] ?? []).entries()) {
      expect(worst(own, expected[(PROMPTS[row] ?? 0) - 1 + step])).toBeLessThan(1e-3);
    }
  }
});

test('as safetensors it gives the same logits', async () => {
  expect(await logitsOf(fromSafetensors(decoder))).toEqual(logits);
});
