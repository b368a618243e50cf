import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import type { DType } from '../../src/core/tensor/dtype.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import { seededRandom } from '../../src/core/random.ts';
import { compile } from '../../src/compiler/compile.ts';
import { func, variable } from '../../src/compiler/ir/build.ts';
import { compileOnnx } from '../../src/frontend/onnx/compile-onnx.ts';
import { importOnnx } from '../../src/frontend/onnx/import-onnx.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import {
  type BenchDevice,
  type BuiltCase,
  CASE_TYPES,
  type CasePlan,
  type CaseTensor,
  type DeviceTargets,
  PEERS,
  type Peer,
  type Work,
} from './bench-case.ts';

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

/** The files of a case, and what gives them addresses below `/cases/NAME/`. */
export function caseFiles(name: string) {
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
  return { files, place, placeAll };
}

/** A case of a model and its tensors. */
export function buildCase(name: string, contents: CaseContents): BuiltCase {
  const { model, inputs, weights, expected = [], tolerance = TOLERANCE, isHeld = false } = contents;
  const [x] = inputs;
  const { files, place, placeAll } = caseFiles(name);
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

type Initializers = Readonly<Record<string, HostTensor>>;

/** An operator, or a few, from `x` to `y`; weights in the order in which other runtimes take them. */
export interface Operators {
  /** The shape of `x`, whose elements are random, or `x` itself. */
  readonly input: readonly number[] | HostTensor;
  readonly weights?: Initializers | undefined;
  /** Initializers that are no data: axes and the like. */
  readonly constants?: Initializers;
  readonly nodes: readonly OnnxNodeSpec[];
  /** Versions of operator sets besides ONNX's own. */
  readonly opsets?: Readonly<Record<string, number>>;
}

export interface OperatorCase {
  readonly name: string;
  readonly title: string;
  readonly work?: Work;
  readonly launches?: number;
  readonly peers?: readonly Peer[];
  readonly targets: DeviceTargets;
  readonly operators: () => Operators;
  /** The same with elements of float32. */
  readonly float32?: OperatorCase;
}

/** The plan of a case on a device, if it has targets for it. */
export function planOperators(operatorCase: OperatorCase, device: BenchDevice): CasePlan[] {
  const { peers = PEERS, targets: all, ...rest } = operatorCase;
  const targets = all[device];
  return targets === undefined
    ? []
    : [{ ...rest, targets, peers, build: () => buildOperators(operatorCase) }];
}

function buildOperators({ name, operators, float32 }: OperatorCase): BuiltCase {
  const { input, weights = {}, constants = {}, nodes, opsets = {} } = operators();
  const x = input instanceof HostTensor ? input : randomTensor(input, 1);
  const model = writeOnnxModel({
    nodes,
    inputs: [{ name: 'x', dtype: x.dtype, shape: x.shape }],
    outputs: ['y'],
    initializers: { ...weights, ...constants },
    opsets,
  });
  const built = buildCase(name, {
    model,
    inputs: [x],
    weights: Object.values(weights),
    isHeld: true,
  });
  if (float32 === undefined) return built;
  const other = buildOperators(float32);
  return {
    benchCase: { ...built.benchCase, float32: other.benchCase },
    files: new Map([...built.files, ...other.files]),
  };
}

/** Elements from -0.5 to 0.5, times `scale`. */
export function randomTensor(shape: readonly number[], seed: number, scale = 1): HostTensor {
  const random = seededRandom(seed);
  const data = Float32Array.from({ length: elementCount(shape) }, () => (random() - 0.5) * scale);
  return new HostTensor('float32', shape, data);
}

/** One node from `x` to `y`. */
export function single(
  op: string,
  inputs: readonly string[],
  attributes: NonNullable<OnnxNodeSpec['attributes']> = {},
): OnnxNodeSpec[] {
  return [{ op, inputs, outputs: ['y'], attributes }];
}
