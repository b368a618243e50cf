import { Tensor } from '../../../src/client/index.ts';
import { numberToFloat16 } from '../../../src/core/tensor/float16.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../../src/testing/onnx-writer.ts';

export const LAYERS = 4;
const ROWS = 8;
const WIDTH = 32;

/** Nodes whose result can be made too large. */
const NODES = ['up', 'down', 'sum'] as const;

/** The name of a node that stores what float16 does not hold. */
export type Plant = `${number}.${(typeof NODES)[number]}`;

export const PLANTS: readonly Plant[] = Array.from({ length: LAYERS }, (_, layer) =>
  NODES.map((node): Plant => `${layer}.${node}`),
).flat();

/**
 * A network of residual layers in float16, as exporters write it: a norm spelled out, a product, ReLU, a product, the sum
 * with what came in. With `plant` the weights or the bias behind that node make its result too large.
 */
export function plantedModel(plant: Plant | undefined): Uint8Array {
  const random = seededRandom(5);
  const initializers: Record<string, HostTensor> = {
    two: half([], [2]),
    epsilon: half([], [1e-3]),
  };
  const nodes: OnnxNodeSpec[] = [];
  const node = (name: string, op: string, inputs: readonly string[], attributes = {}): string => {
    nodes.push({ op, name, inputs: [...inputs], outputs: [name], attributes });
    return name;
  };
  const weights = (name: string, shape: readonly number[], scale: number): string => {
    const count = shape.reduce((product, dim) => product * dim, 1);
    initializers[name] = half(
      shape,
      Array.from({ length: count }, () => scale * (2 * random() - 1)),
    );
    return name;
  };
  const along = { axes: [-1], keepdims: 1 };
  let x = 'x';
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = (name: string): string => `${layer}.${name}`;
    const sizeOf = (name: (typeof NODES)[number]): number => (plant === at(name) ? 60_000 : 1);
    const mean = node(at('mean'), 'ReduceMean', [x], along);
    const centered = node(at('centered'), 'Sub', [x, mean]);
    const square = node(at('square'), 'Pow', [centered, 'two']);
    const variance = node(at('variance'), 'ReduceMean', [square], along);
    const shifted = node(at('shifted'), 'Add', [variance, 'epsilon']);
    const normal = node(at('normal'), 'Div', [centered, node(at('root'), 'Sqrt', [shifted])]);
    const up = node(at('up'), 'MatMul', [normal, weights(at('w1'), [WIDTH, WIDTH], sizeOf('up'))]);
    const active = node(at('active'), 'Relu', [up]);
    const down = node(at('down'), 'MatMul', [
      active,
      weights(at('w2'), [WIDTH, WIDTH], plant === at('down') ? 30_000 : 1 / WIDTH),
    ]);
    const bias = weights(at('bias'), [WIDTH], sizeOf('sum'));
    const other = plant === at('sum') ? weights(at('other'), [WIDTH], 60_000) : undefined;
    const moved = node(at('moved'), 'Add', [down, bias]);
    x = node(at('sum'), 'Add', [
      other === undefined ? x : node(at('large'), 'Add', [x, other]),
      moved,
    ]);
  }
  return writeOnnxModel({
    nodes,
    inputs: [{ name: 'x', dtype: 'float16', shape: [ROWS, WIDTH] }],
    outputs: [x],
    initializers,
  });
}

/** Inputs as those that the network is for, up to 900. */
export function inputsOf(seed: number): { x: Tensor } {
  const random = seededRandom(100 + seed);
  const values = Array.from({ length: ROWS * WIDTH }, () =>
    numberToFloat16(900 * (2 * random() - 1)),
  );
  return { x: new Tensor('float16', Uint16Array.from(values), [ROWS, WIDTH]) };
}

function half(shape: readonly number[], values: readonly number[]): HostTensor {
  return HostTensor.from('float16', shape, values.map(numberToFloat16));
}
