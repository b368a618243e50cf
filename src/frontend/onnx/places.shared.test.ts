import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Executable } from '../../bytecode/file/executable-file.ts';
import { decodeRange } from '../../bytecode/isa.ts';
import { unplacedExpression } from '../../compiler/verify/verify-pass.ts';
import { sharedPath } from '../../testing/files/shared-path.ts';
import { compileOnnx } from './compile-onnx.ts';
import { importOnnx } from './import-onnx.ts';

function modelBytes(name: string): Uint8Array {
  return readFileSync(sharedPath(`models/${name}/model.onnx`));
}

/** Instructions that say nowhere in the source. */
function unplacedCount({ functions, code, sourceMap }: Executable): number {
  let count = 0;
  for (const { name, codeStart, codeLength } of functions) {
    const instructions = [...decodeRange(code, codeStart, codeStart + codeLength)];
    count += instructions.filter((_, i) => (sourceMap?.at(name, i) ?? []).length === 0).length;
  }
  return count;
}

// Loops, a scan, branches, sizes that are computed, fused products.
test.each(['silero-vad-v6-16k-op15', 'scan-lstm-cntk', 'bert-toy', 'superres-core'])(
  'every instruction of %s has a node of the model',
  (name) => {
    expect(unplacedExpression(importOnnx(modelBytes(name)))).toBeUndefined();
    const executable = compileOnnx(modelBytes(name), { verify: true });
    expect(unplacedCount(executable)).toBe(0);
    expect(executable.sourceMapBytes?.byteLength).toBeLessThan(
      executable.toBytes().byteLength / 10,
    );
    const bare = compileOnnx(modelBytes(name), { sourceMap: false });
    expect(bare.sourceMap).toBeUndefined();
    expect(bare.code).toEqual(executable.code);
  },
);

test('a kernel says which nodes it computes', () => {
  const { primitives, sourceMap } = compileOnnx(modelBytes('mnist-pytorch-cnn'));
  const kernels = primitives.map(({ name }) => [
    name,
    sourceMap?.ofPrimitive(name).map(({ source }) => source),
  ]);
  expect(Object.fromEntries(kernels)).toMatchInlineSnapshot(`
    {
      "conv2d": [
        "9",
      ],
      "conv2d.1": [
        "12",
      ],
      "gemm_relu": [
        "17",
        "18",
      ],
      "gemm_relu.1": [
        "19",
        "20",
      ],
      "log_softmax": [
        "21",
      ],
      "max_pool_relu": [
        "10",
        "11",
      ],
      "max_pool_relu.1": [
        "13",
        "14",
      ],
    }
  `);
});
