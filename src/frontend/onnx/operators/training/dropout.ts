import type { Expr } from '../../../../compiler/ir/expr.ts';
import { concreteShape } from '../../../../core/dims/dim.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { elementCount } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { cast } from '../elementwise/elementwise.ts';
import { uniform } from '../random/random.ts';

const SIZE = 624;
const MIDDLE = 397;

/**
 * Numbers from 0 up to 1 of MT19937 (Matsumoto and Nishimura 1998) from a seed, 53 bits each, as NumPy's
 * `RandomState(seed).uniform()` gives them: ONNX's own reference draws what a seeded Dropout drops from it.
 */
export function mersenneUniform(seed: number, count: number): Float64Array {
  const state = new Uint32Array(SIZE);
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) {
    const before = state[i - 1] ?? 0;
    state[i] = Math.imul(before ^ (before >>> 30), 1812433253) + i;
  }
  let next = SIZE;
  const word = (): number => {
    if (next === SIZE) {
      twist(state);
      next = 0;
    }
    let y = state[next++] ?? 0;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  return Float64Array.from({ length: count }, () => {
    const [high, low] = [word() >>> 5, word() >>> 6];
    return (high * 2 ** 26 + low) / 2 ** 53;
  });
}

function twist(state: Uint32Array): void {
  for (let i = 0; i < SIZE; i++) {
    const y = ((state[i] ?? 0) & 0x80000000) | ((state[(i + 1) % SIZE] ?? 0) & 0x7fffffff);
    const shifted = (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    state[i] = (state[(i + MIDDLE) % SIZE] ?? 0) ^ shifted;
  }
}

/**
 * In inference nothing is dropped. In training (from opset 12 on an input says so, or the model is imported for
 * training) a share of the elements is, and the others are divided by what remains of 1.
 */
function importDropout(node: ImportNode): Expr[] {
  node.attributes.ignore('is_test');
  const seed = node.attributes.int('seed');
  const x = node.input(0);
  const mode = isTraining(node);
  const ratio = ratioOf(node);
  if (mode === false || (typeof ratio === 'number' && ratio === 0)) {
    if (node.outputCount < 2) return [x];
    const dtype = node.opset >= 10 ? 'bool' : node.type(x).dtype;
    return [x, node.call('broadcast_to', [node.scalar(1, dtype)], { shape: node.shape(x) })];
  }
  const share = typeof ratio === 'number' ? node.scalar(ratio) : cast(node, ratio, 'float32');
  const kept = node.call('greater_equal', [numbers(node, seed), node.reshape(share, [])]);
  const rest = node.call('sub', [node.scalar(1), node.reshape(share, [])]);
  const scaled = node.call('div', [x, cast(node, rest, node.type(x).dtype)]);
  const zero = node.scalar(0, node.type(x).dtype);
  const dropped = node.call('where', [kept, scaled, zero]);
  const mask = node.opset >= 10 ? kept : cast(node, kept, node.type(x).dtype);
  if (mode === true) return [dropped, mask];
  const isOn = node.reshape(cast(node, mode, 'bool'), []);
  const isKept = node.call('bitwise_or', [kept, node.call('logical_not', [isOn])]);
  return [node.call('where', [isOn, dropped, x]), isKept];
}

/** True if elements are dropped; an expression where that is known only when the model runs. */
function isTraining(node: ImportNode): boolean | Expr {
  if (node.context.training?.mode === 'training') return true;
  if (node.opset < 12 || node.context.training !== undefined) return false;
  if (node.isComputed(2)) return node.input(2);
  return (node.numberInput(2, 'training modes') ?? 0) !== 0;
}

function ratioOf(node: ImportNode): number | Expr {
  if (node.opset < 12) return node.attributes.float('ratio', 0.5);
  return node.isComputed(1) ? node.input(1) : (node.numberInput(1, 'ratios') ?? 0.5);
}

/**
 * Numbers from 0 up to 1: in a training program others for each step and node. Elsewhere those of the seed, as
 * ONNX's reference draws them where sizes are known, and the same in each run.
 */
function numbers(node: ImportNode, seed: number | undefined): Expr {
  const shape = node.shape(node.input(0));
  const sizes = concreteShape(shape);
  if (node.context.training === undefined && seed !== undefined && sizes !== undefined) {
    const drawn = mersenneUniform(seed, elementCount(sizes));
    return node.constant(HostTensor.from('float32', sizes, [...drawn]));
  }
  return uniform(node, shape, seed);
}

export const DROPOUT_IMPORTERS: OperatorImporters = {
  Dropout: since(
    1,
    'div where broadcast_to greater_equal sub cast reshape bitwise_or logical_not arange add bitwise_xor shift_left shift_right mul',
    importDropout,
  ),
};
