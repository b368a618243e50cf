import type { GraphProto, NodeProto } from '../protobuf/schema.ts';
import { operatorName } from './sort-nodes.ts';

/** The shape of an initializer; undefined for other names. */
type ShapeOf = (name: string | undefined) => readonly number[] | undefined;
type Rank = (node: NodeProto, shapeOf: ShapeOf) => number | undefined;

const ofWeight: Rank = ({ input }, shapeOf) => shapeOf(input[1])?.length;
const fixed =
  (rank: number): Rank =>
  () =>
    rank;
const ints = ({ attribute }: NodeProto, wanted: string): number | undefined =>
  attribute.find(({ name }) => name === wanted)?.ints.length;
const ofWindow: Rank = (node) => {
  const axes = ints(node, 'kernel_shape');
  return axes === undefined ? undefined : axes + 2;
};

/** The rank that an operator takes as its first input, and no other. */
const RANKS: Readonly<Record<string, Rank>> = {
  AveragePool: ofWindow,
  Conv: ofWeight,
  ConvInteger: ofWeight,
  ConvTranspose: ofWeight,
  DepthToSpace: fixed(4),
  GRU: fixed(3),
  Gemm: fixed(2),
  LSTM: fixed(3),
  MaxPool: ofWindow,
  QLinearConv: ({ input }, shapeOf) => shapeOf(input[3])?.length,
  RNN: fixed(3),
  SpaceToDepth: fixed(4),
  Tile: ({ input }, shapeOf) => shapeOf(input[1])?.[0],
  Transpose: (node) => ints(node, 'perm'),
};

/** Operators that give their first input's rank. */
const KEEPS =
  /^(BatchNormalization|Cast|Clip|DequantizeLinear|Dropout|Identity|LeakyRelu|QuantizeLinear|Relu|Sigmoid|Tanh)$/;

/** The rank that a use of a value requires of it; undefined where none tells. */
export function rankFromUse(
  value: string,
  { node: nodes, initializer }: GraphProto,
): number | undefined {
  const shapes = new Map(initializer.map(({ name, dims }) => [name, dims]));
  const values = new Set([value]);
  for (const name of values) {
    for (const node of nodes) {
      if (node.input[0] !== name) continue;
      const op = operatorName(node);
      const find = Object.hasOwn(RANKS, op) ? RANKS[op] : undefined;
      const rank = find?.(node, (input) => shapes.get(input));
      if (rank !== undefined) return rank;
      const [output = ''] = node.output;
      if (output !== '' && KEEPS.test(op)) values.add(output);
    }
  }
  return undefined;
}
