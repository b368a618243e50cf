import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { compile } from '../../src/compiler/compile.ts';
import { func, variable } from '../../src/compiler/ir/build.ts';
import type { DType } from '../../src/core/tensor/dtype.ts';
import { compileOnnx } from '../../src/frontend/onnx/compile-onnx.ts';
import { importOnnx } from '../../src/frontend/onnx/import-onnx.ts';
import { type BuiltCase, CASE_TYPES, type CaseTensor } from './bench-case.ts';

/** Of results that are not quantised on the way. */
const TOLERANCE = 1e-3;

interface CaseContents {
  readonly model: Uint8Array;
  readonly inputs: readonly HostTensor[];
  readonly weights: readonly HostTensor[];
  readonly expected?: readonly HostTensor[];
  /** Default: a thousandth of the range. */
  readonly tolerance?: number;
  /** Makes the executable for an input that stays on the device too; for models of one input. */
  readonly isHeld?: boolean;
}

/** Gives a model and its tensors addresses below `/cases/NAME/`. */
export function buildCase(name: string, contents: CaseContents): BuiltCase {
  const { model, inputs, weights, expected = [], tolerance = TOLERANCE, isHeld = false } = contents;
  const [x] = inputs;
  const files = new Map<string, Uint8Array>();
  const place = (file: string, bytes: Uint8Array): string => {
    const url = `/cases/${name}/${file}`;
    files.set(url, bytes);
    return url;
  };
  const placeAll = (role: string, tensors: readonly HostTensor[]): CaseTensor[] =>
    tensors.map(({ dtype, shape, bytes }, i) => {
      if (!isCaseType(dtype)) throw new Error(`${name}: the benchmark has no ${dtype} tensors`);
      return { dtype, shape, url: place(`${role}-${i}.bin`, bytes) };
    });
  return {
    benchCase: {
      name,
      model: place('model.onnx', model),
      executable: place('model.weft', compileOnnx(model).toBytes()),
      ...(isHeld && x && { resident: place('resident.weft', compileHolding(model, x)) }),
      inputs: placeAll('input', inputs),
      weights: placeAll('weight', weights),
      expected: placeAll('expected', expected),
      tolerance,
    },
    files,
  };
}

const isCaseType = (dtype: DType): dtype is CaseTensor['dtype'] =>
  CASE_TYPES.some((known) => known === dtype);

/** The model's executable with a function `hold`, by which a page puts `x` on the device. */
function compileHolding(model: Uint8Array, { dtype, shape }: HostTensor): Uint8Array {
  const module = importOnnx(model);
  const x = variable('x', dtype, shape);
  const functions = new Map([...module.functions, ['hold', func([x], x)] as const]);
  return compile({ ...module, functions }).toBytes();
}
