import { expect } from 'vitest';
import { createWasmDevice } from '../../../../device/wasm/wasm-device.ts';
import type { Device } from '../../../../device/device.ts';
import { type GgufHead, readGguf } from '../../files/gguf.ts';
import { readSafetensors, type SafetensorsHead } from '../../files/safetensors.ts';
import { encodeElements } from '../../files/testing/encode-elements.ts';
import type { DecoderFile } from '../decoder-file.ts';
import { openGguf, openTransformers } from '../open-decoder.ts';
import { DecodeRunner, loadFrom } from './decode-runner.ts';
import { ggufOf, safetensorsOf, type TestedDecoder } from './decoder-files.ts';
import { referenceLogits } from './reference-decoder.ts';

/** A file that is all there, and the decoder in it. */
export interface OpenedFile {
  readonly file: DecoderFile;
  readonly bytes: Uint8Array;
}

/** Metadata and tensors of a GGUF file that have no counterpart in `config.json`. */
export interface MoreOfGguf {
  readonly metadata?: Readonly<Record<string, number | string>>;
  readonly tensors?: Readonly<Record<string, readonly number[]>>;
}

/** The tokens of a batch, one row for each text. */
export const TOKENS = [
  [3, 17, 39, 0, 8, 22, 22, 5, 31, 12],
  [11, 2, 29, 4, 36, 1],
];

/** Opens a decoder as a GGUF file. */
export function fromGguf(
  decoder: TestedDecoder,
  { metadata, tensors = {} }: MoreOfGguf = {},
): OpenedFile {
  const more = Object.entries(tensors).map(([name, values]) => {
    return { name, shape: [values.length], type: 'F32', bytes: encodeElements('F32', values) };
  });
  const bytes = ggufOf(decoder, metadata, more);
  return { file: openGguf(readGguf(bytes) as GgufHead), bytes };
}

/** A decoder from safetensors and `config.json`. */
export function fromSafetensors(decoder: TestedDecoder): OpenedFile {
  const bytes = safetensorsOf(decoder);
  const { tensors } = readSafetensors(bytes) as SafetensorsHead;
  return { file: openTransformers(JSON.stringify(decoder.config), tensors), bytes };
}

/** The largest difference of logits from those of the reference. */
export function worst(actual: readonly number[], expected: readonly number[] = []): number {
  expect(actual).toHaveLength(expected.length);
  return Math.max(...actual.map((x, i) => Math.abs(x - (expected[i] ?? Number.NaN))));
}

/**
 * Prompts of two lengths at once, then a token for each row at a time. Logits must be the reference's of the
 * whole rows, whatever the caches hold where nothing is written.
 */
export async function expectReference(
  decoder: TestedDecoder,
  { file, bytes }: OpenedFile,
  device: Device = createWasmDevice(),
): Promise<void> {
  const { config, weights } = decoder;
  const expected = TOKENS.map((row) => referenceLogits(config, weights, row));
  const runner = await DecodeRunner.open(await loadFrom(file, bytes), device);
  runner.start(2, 16);
  const lengths = [7, 3];
  const prompts = TOKENS.map((row, i) => row.slice(0, lengths[i]));
  let logits = await runner.step(prompts, [0, 0]);
  for (let step = 0; ; step++) {
    for (const [row, of] of expected.entries()) {
      expect(worst(logits[row] ?? [], of[(lengths[row] ?? 0) - 1 + step])).toBeLessThan(1e-4);
    }
    if (step === 3) break;
    const next = lengths.map((length, row) => [TOKENS[row]?.[length + step] ?? 0]);
    logits = await runner.step(
      next,
      lengths.map((length) => length + step),
    );
  }
}
