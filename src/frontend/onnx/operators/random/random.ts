import { exprOf } from '../../../../compiler/inference/expr-tensor.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { DType } from '../../../../core/tensor/dtype.ts';
import { isFloat } from '../../../../ops/elementwise/number-dtypes.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import { cast } from '../elementwise/elementwise.ts';
import { uniformNumbers } from '../../../../ops/random/threefry.ts';
import { NodeGraphTarget } from '../../node-graph-target.ts';

/** The core operators that {@link uniform} makes. */
const UNIFORM_MAKES = 'add mul threefry arange shift_right cast reshape';

/**
 * Numbers from 0 up to 1, without 1, float32: in a training program others for each step; elsewhere those of the seed, or
 * of the place of the node where it has none, and the same in each run and on each device.
 */
export function uniform(node: ImportNode, shape: readonly Dim[], seed: number | undefined): Expr {
  const key = node.context.training?.key(node) ?? node.scalar(seed ?? 0, 'int32');
  const target = new NodeGraphTarget(node);
  const stream = node.context.nextRandomStream();
  return exprOf(uniformNumbers(target.builder, target.tensor(key), { stream, shape }));
}

interface Drawn {
  readonly shape: readonly Dim[];
  readonly dtype: DType;
}

function ofShape(node: ImportNode): Drawn {
  const shape = node.attributes.ints('shape');
  if (shape === undefined) throw node.malformed('no attribute shape', 'one');
  const bad = shape.find((size) => size < 0);
  if (bad !== undefined) throw node.malformed(`a size of ${bad}`, 'sizes from 0 up');
  return { shape, dtype: floatOf(node, 'float32') };
}

/** The shape of the input, and its dtype where no other one is given. */
function likeInput(node: ImportNode): Drawn {
  const { shape, dtype } = node.type(node.input(0));
  return { shape, dtype: floatOf(node, dtype) };
}

function floatOf(node: ImportNode, otherwise: DType): DType {
  const dtype = dtypeOf(node, otherwise);
  if (isFloat(dtype)) return dtype;
  throw node.malformed(`numbers of ${dtype}`, 'floats: set the attribute dtype');
}

function dtypeOf(node: ImportNode, otherwise: DType): DType {
  const code = node.attributes.int('dtype');
  return code === undefined ? otherwise : dtypeFromOnnx(code, node.where);
}

/** The attribute `seed`, a float, as an integer: its bits, so that no two seeds are one. */
function seedOf(node: ImportNode): number | undefined {
  const seed = node.attributes.float('seed');
  return seed === undefined ? undefined : new Int32Array(Float32Array.of(seed).buffer)[0];
}

/** Uniform numbers from `low` up to `high`. */
const importUniform =
  (drawn: (node: ImportNode) => Drawn) =>
  (node: ImportNode): Expr => {
    const { shape, dtype } = drawn(node);
    const [low, high] = [node.attributes.float('low', 0), node.attributes.float('high', 1)];
    const numbers = uniform(node, shape, seedOf(node));
    const wide = node.call('mul', [numbers, node.scalar(high - low)]);
    return cast(node, node.call('add', [wide, node.scalar(low)]), dtype);
  };

/** Normally distributed numbers, by the method of Box and Muller: the cosine of each pair. */
const importNormal =
  (drawn: (node: ImportNode) => Drawn) =>
  (node: ImportNode): Expr => {
    const { shape, dtype } = drawn(node);
    const [mean, scale] = [node.attributes.float('mean', 0), node.attributes.float('scale', 1)];
    const seed = seedOf(node);
    const [size, angle] = [uniform(node, shape, seed), uniform(node, shape, seed)];
    const log = node.call('log1p', [node.call('neg', [size])]);
    const radius = node.call('sqrt', [node.call('mul', [log, node.scalar(-2)])]);
    const turned = node.call('cos', [node.call('mul', [angle, node.scalar(2 * Math.PI)])]);
    const normal = node.call('mul', [radius, turned]);
    const scaled = node.call('mul', [normal, node.scalar(scale)]);
    return cast(node, node.call('add', [scaled, node.scalar(mean)]), dtype);
  };

/** 1 with the probability that an element is, else 0. */
function importBernoulli(node: ImportNode): Expr {
  const x = node.input(0);
  const { shape, dtype } = node.type(x);
  const isOne = node.call('less', [uniform(node, shape, seedOf(node)), cast(node, x, 'float32')]);
  return cast(node, isOne, dtypeOf(node, dtype));
}

/** Classes by their logarithmic probabilities: the largest sum with noise of the Gumbel distribution. */
function importMultinomial(node: ImportNode): Expr {
  const logits = node.input(0);
  const shape = node.shape(logits);
  if (shape.length !== 2) throw node.malformed(`an input of rank ${shape.length}`, 'a matrix');
  const [batch = 1, classes = 1] = shape;
  const count = node.attributes.int('sample_size', 1);
  if (count < 1) throw node.malformed(`sample_size ${count}`, 'an integer from 1 up');
  const numbers = uniform(node, [batch, count, classes], seedOf(node));
  // Not 0, whose logarithm is infinite: half of the least step.
  const above = node.call('maximum', [numbers, node.scalar(2 ** -25)]);
  const exponential = node.call('neg', [node.call('log', [above])]);
  const noise = node.call('neg', [node.call('log', [exponential])]);
  const rows = node.reshape(cast(node, logits, 'float32'), [batch, 1, classes]);
  const drawn = node.call('arg_max', [node.call('add', [rows, noise])], { axis: 2 });
  const dtype = dtypeOf(node, 'int32');
  if (dtype !== 'int32' && dtype !== 'int64') {
    throw node.malformed(`classes of ${dtype}`, 'int32 or int64');
  }
  return cast(node, node.reshape(drawn, [batch, count]), dtype);
}

const NORMAL = `${UNIFORM_MAKES} log1p neg sqrt cos`;

export const RANDOM_IMPORTERS: OperatorImporters = {
  Bernoulli: since(15, `less ${UNIFORM_MAKES}`, importBernoulli),
  Multinomial: since(7, `arg_max log maximum neg ${UNIFORM_MAKES}`, importMultinomial),
  RandomNormal: since(1, NORMAL, importNormal(ofShape)),
  RandomNormalLike: since(1, NORMAL, importNormal(likeInput)),
  RandomUniform: since(1, UNIFORM_MAKES, importUniform(ofShape)),
  RandomUniformLike: since(1, UNIFORM_MAKES, importUniform(likeInput)),
};
