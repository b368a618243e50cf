import { setFlagsFromString } from 'node:v8';
import { afterAll, expect, test } from 'vitest';
import type { Precision } from '../core/contracts/precision.ts';
import { hasByteProducts } from '../device/wasm/check-engine.ts';
import { createWasmDevice } from '../device/wasm/wasm-device.ts';
import type { Decoder } from '../frontend/decoders/generation-module.ts';
import {
  DecodeRunner,
  loadFrom,
} from '../frontend/decoders/architectures/testing/decode-runner.ts';
import { fromGguf } from '../frontend/decoders/architectures/testing/expect-reference.ts';
import { storyDecoder } from '../frontend/decoders/architectures/testing/story-decoder.ts';

// Node 20 knows relaxed SIMD; only its optimizing compiler has it right.
setFlagsFromString('--experimental-wasm-relaxed-simd');
setFlagsFromString('--no-liftoff');
// Other files of this process expect the sums of an engine without it.
afterAll(() => {
  setFlagsFromString('--no-experimental-wasm-relaxed-simd');
  setFlagsFromString('--liftoff');
});

const [TEXTS, TOKENS] = [12, 12];
/** How often the likeliest token has to be the same. */
const REQUIRED_SHARE = 0.97;

async function open(decoder: Decoder, precision: Precision) {
  const runner = await DecodeRunner.open(decoder, createWasmDevice(), { precision });
  runner.start(TEXTS, 16);
  return runner;
}

const likeliest = (logits: readonly number[]): number => logits.indexOf(Math.max(...logits));

test.each(['Q4_0', 'Q8_0'])('the likeliest tokens of the story model in %s', async (type) => {
  expect(hasByteProducts()).toBe(true);
  const { file, bytes } = fromGguf(storyDecoder(() => type));
  const decoder = await loadFrom(file, bytes);
  const full = await open(decoder, 'full');
  const fast = await open(decoder, 'fast');
  // Each text begins with another token, and goes on as the exact model says.
  let tokens = Array.from({ length: TEXTS }, (_, text) => [30 + 39 * text]);
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
