import { beforeAll, expect, test } from 'vitest';
import { STORY_SIZES } from '../../../text/testing/story-sizes.ts';
import { StoryReader } from '../../../text/testing/story-reader.ts';
import { createWasmDevice } from '../../../device/wasm/wasm-device.ts';
import { DecodeRunner, loadFrom } from './testing/decode-runner.ts';
import { fromGguf, fromSafetensors, type OpenedFile, worst } from './testing/expect-reference.ts';
import { referenceLogits } from './testing/reference-decoder.ts';
import { STORY_CONFIG, storyDecoder, storyOnnx } from './testing/story-decoder.ts';

const CONFIG = STORY_CONFIG;

/** A prompt and how it goes on, and a shorter one. */
const ROWS = [
  Array.from({ length: 24 }, (_, i) => (i * 37 + 5) % 512),
  Array.from({ length: 14 }, (_, i) => (i * 101 + 60) % 512),
];
const PROMPTS = [18, 8];

const decoder = storyDecoder();

/** Logits behind each token from the last of the prompts on, by row. */
async function logitsOf({ file, bytes }: OpenedFile): Promise<number[][][]> {
  const runner = await DecodeRunner.open(await loadFrom(file, bytes), createWasmDevice());
  runner.start(2, 32);
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
  const reader = await StoryReader.open(storyOnnx(), STORY_SIZES);
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
