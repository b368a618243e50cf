import { expect, test } from 'vitest';
import { inTier } from '../../../src/testing/tier.ts';
import { type FileKind, runInputs } from './run-inputs.ts';

const COUNT = inTier({ quick: 700, long: 3000 });
/** Of files that the page reads itself. */
const TEXT_COUNT = inTier({ quick: 300, long: 100_000 });

/** Inputs, and outcomes that have to be among them: changes get past the hashes and the readers. */
const CASES: readonly (readonly [FileKind, number, readonly string[]])[] = [
  ['executable', COUNT, ['FormatError', 'VerifyError', 'RuntimeError', 'UsageError', 'ok']],
  ['onnx', COUNT / 2, ['FormatError', 'UnsupportedError', 'ShapeError', 'ok']],
  ['tflite', COUNT / 2, ['FormatError', 'UnsupportedError', 'ok']],
  ['snapshot', COUNT, ['FormatError', 'UsageError', 'RuntimeError', 'ok']],
  ['gguf', TEXT_COUNT, ['FormatError', 'UnsupportedError', 'ok']],
  ['tokenizer', TEXT_COUNT, ['FormatError', 'ok']],
  ['template', TEXT_COUNT, ['FormatError', 'UsageError', 'ok']],
  ['grammar', TEXT_COUNT, ['ParseError', 'UnsupportedError', 'UsageError', 'ok']],
  ['generation', TEXT_COUNT, ['FormatError', 'UsageError', 'ok']],
];

test.each(CASES)(
  '%s: %i changed files with right hashes come to success or to errors with types',
  async (kind, count, names) => {
    const { outcomes, problems } = await runInputs({ kind, seed: 1, count });
    expect(problems).toEqual([]);
    expect(Object.keys(outcomes)).toEqual(expect.arrayContaining([...names]));
    // Many get as far as the code that trusts the reader.
    expect(outcomes['ok']).toBeGreaterThan(count / 60);
  },
  inTier({ quick: 300_000, long: 7_200_000 }),
);
