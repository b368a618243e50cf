import { expect, test } from 'vitest';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { seededRandom } from '../../core/random.ts';
import { blockFormat } from './files/blocks/block-formats.ts';
import { repackBlocks } from './files/blocks/repack-blocks.ts';
import { encodeElements } from './files/testing/encode-elements.ts';
import { type Quantization, WeightQuantizer } from './weight-quantizer.ts';

function randomValues(length: number, seed: number): Float32Array {
  const random = seededRandom(seed);
  return Float32Array.from({ length }, (_, i) => (random() - 0.5) * 2 ** (Math.floor(i / 32) % 9));
}

const plain = { columns: 64, isVocabulary: false };

test.each<[Quantization, string]>([
  ['q8_0', 'Q8_0'],
  ['q4_0', 'Q4_0'],
])('%s gives the codes and scales that a file of %s holds', (format, type) => {
  const values = randomValues(64 * 50, 3);
  const blocks = blockFormat(type);
  if (blocks === undefined) throw new Error('no such blocks');
  const { bits, codes, scales } = repackBlocks(encodeElements(type, values), blocks);
  expect(new WeightQuantizer(format).quantize('w', values, plain)).toEqual({ bits, codes, scales });
});

test('halves of 8 bits go away from 0, and blocks of zeros are zeros', () => {
  const scale = 2 ** -5;
  const halves = [127, 0.5, -0.5, 1.5, -2.5, 0.4999].map((x) => x * scale);
  const values = Float32Array.from({ length: 64 }, (_, i) => halves[i] ?? 0);
  const coded = new WeightQuantizer('q8_0').quantize('w', values, plain);
  expect([...(coded?.codes.subarray(0, 7) ?? [])]).toEqual([255, 129, 127, 130, 125, 128, 128]);
  expect([...(coded?.scales ?? [])]).toEqual([scale, 0]);
  expect(coded?.codes.subarray(32).every((code) => code === 128)).toBe(true);
});

test('what multiplies the vocabulary has 8 bits in any case', () => {
  const quantizer = new WeightQuantizer('q4_0');
  const values = randomValues(128, 4);
  expect(quantizer.quantize('v', values, { columns: 64, isVocabulary: true })?.bits).toBe(8);
  expect(quantizer.quantize('w', values, plain)?.bits).toBe(4);
});

test('the report says how far weights were moved, and which stayed', () => {
  const quantizer = new WeightQuantizer('q8_0');
  const small = Float32Array.from({ length: 64 }, (_, i) => (i % 32 === 0 ? 127 : 1.25));
  quantizer.quantize('small', small, plain);
  quantizer.quantize(
    'exact',
    Float32Array.from({ length: 64 }, (_, i) => (((i % 32) * 127) / 31) | 0),
    plain,
  );
  expect(
    quantizer.quantize('odd', new Float32Array(33), { columns: 33, isVocabulary: false }),
  ).toBeUndefined();
  // Scales are 1 and float16 holds them; 62 elements are moved by a quarter.
  expect(float16ToNumber(numberToFloat16(1))).toBe(1);
  const { matrices, error, worst, kept } = quantizer.report;
  const moved = 62 * 0.25 ** 2;
  const sum = 2 * 127 ** 2 + 62 * 1.25 ** 2;
  expect(worst.name).toBe('small');
  expect(worst.error).toBeCloseTo(Math.sqrt(moved / sum), 12);
  expect(error).toBeLessThan(worst.error);
  expect([matrices, kept]).toEqual([2, ['odd']]);
});

test('another format', () => {
  expect(() => new WeightQuantizer('q5_0' as Quantization)).toThrow(
    'quantize: got "q5_0", expected one of q8_0, q4_0.',
  );
});
