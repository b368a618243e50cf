import type { HostTensor } from '../../src/core/host-tensor.ts';
import { compileOnnx } from '../../src/frontend/onnx/compile-onnx.ts';
import type { BuiltCase, CaseTensor } from './bench-case.ts';

export interface CaseContents {
  readonly model: Uint8Array;
  readonly inputs: readonly HostTensor[];
  readonly weights: readonly HostTensor[];
  readonly expected?: readonly HostTensor[];
}

/** Gives a model and its tensors addresses below `/cases/NAME/`. */
export function buildCase(name: string, contents: CaseContents): BuiltCase {
  const { model, inputs, weights, expected = [] } = contents;
  const files = new Map<string, Uint8Array>();
  const place = (file: string, bytes: Uint8Array): string => {
    const url = `/cases/${name}/${file}`;
    files.set(url, bytes);
    return url;
  };
  const placeAll = (role: string, tensors: readonly HostTensor[]): CaseTensor[] =>
    tensors.map(({ dtype, shape, bytes }, i) => {
      if (dtype !== 'float32' && dtype !== 'int64' && dtype !== 'int32' && dtype !== 'bool') {
        throw new Error(`${name}: the benchmark has no ${dtype} tensors`);
      }
      return { dtype, shape, url: place(`${role}-${i}.bin`, bytes) };
    });
  return {
    benchCase: {
      name,
      model: place('model.onnx', model),
      executable: place('model.weft', compileOnnx(model).toBytes()),
      inputs: placeAll('input', inputs),
      weights: placeAll('weight', weights),
      expected: placeAll('expected', expected),
    },
    files,
  };
}
