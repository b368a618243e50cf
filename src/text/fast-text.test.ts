import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import type { Precision } from '../core/precision.ts';
import { hasByteProducts } from '../device/wasm/check-engine.ts';
import { createWasmDevice } from '../device/wasm/wasm-device.ts';
import { DecodeRunner, loadFrom } from './architectures/testing/decode-runner.ts';
import { fromGguf } from './architectures/testing/expect-reference.ts';
import { STORY_CONFIG, storyDecoder } from './architectures/testing/story-decoder.ts';

// Node 20 knows relaxed SIMD; only its optimizing compiler has it right.
setFlagsFromString('--experimental-wasm-relaxed-simd');
setFlagsFromString('--no-liftoff');

const [TEXTS, TOKENS] = [8, 24];
/** How often the likeliest token has to be the same. */
const REQUIRED_SHARE = 0.97;

async function open(type: string, precision: Precision, relaxedSimd: boolean) {
  const { file, bytes } = fromGguf(storyDecoder(() => type));
  const device = createWasmDevice({ relaxedSimd });
  const runner = await DecodeRunner.open(await loadFrom(file, bytes), device, { precision });
  const { num_key_value_heads: heads, head_dim: width, num_hidden_layers: layers } = STORY_CONFIG;
  runner.start([TEXTS, heads, 64, width], layers);
  return runner;
}

const likeliest = (logits: readonly number[]): number => logits.indexOf(Math.max(...logits));

test.each([
  ['Q4_0', true],
  ['Q4_0', false],
  ['Q8_0', true],
])('texts of the story model in %s, relaxed SIMD: %s', async (type, relaxedSimd) => {
  expect(hasByteProducts()).toBe(true);
  const full = await open(type, 'full', relaxedSimd);
  const fast = await open(type, 'fast', relaxedSimd);
  // Each text begins with another token, and goes on as the exact model says.
  let tokens = Array.from({ length: TEXTS }, (_, text) => [30 + 59 * text]);
  let same = 0;
  let isRounded = false;
  for (let position = 0; position < TOKENS; position++) {
    const first = tokens.map(() => position);
    const exact = await full.step(tokens, first);
    const rounded = await fast.step(tokens, first);
    tokens = exact.map((logits, text) => {
      const token = likeliest(logits);
      if (token === likeliest(rounded[text] ?? [])) same++;
      isRounded ||= logits.some((logit, i) => logit !== rounded[text]?.[i]);
      return [token];
    });
  }
  expect(isRounded).toBe(true);
  expect(same / (TEXTS * TOKENS)).toBeGreaterThanOrEqual(REQUIRED_SHARE);
});
