import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import { type CasePlan, PEERS, type Peer, type Targets, type Work } from './bench-case.ts';
import { buildCase } from './build-case.ts';

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
  readonly operators: () => Operators;
  /** The same with elements of float32. */
  readonly float32?: OperatorCase;
}

export function planOperators(operatorCase: OperatorCase, targets: Targets): CasePlan {
  const { peers = PEERS, ...rest } = operatorCase;
  return { ...rest, targets, peers, build: () => build(operatorCase) };
}

function build({ name, operators, float32 }: OperatorCase): ReturnType<CasePlan['build']> {
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
  const other = build(float32);
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
