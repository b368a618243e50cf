import { expect, test } from 'vitest';
import { type FileKind, runInputs } from './run-inputs.ts';

/** Inputs, and outcomes that have to be among them: changes get past the hashes and the readers. */
const CASES: readonly (readonly [FileKind, number, readonly string[]])[] = [
  ['executable', 3000, ['FormatError', 'VerifyError', 'RuntimeError', 'UsageError', 'ok']],
  ['onnx', 1500, ['FormatError', 'UnsupportedError', 'ShapeError', 'ok']],
  ['snapshot', 3000, ['FormatError', 'UsageError', 'RuntimeError', 'ok']],
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
  300_000,
);
