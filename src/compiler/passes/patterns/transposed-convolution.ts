import { proveLessEqual } from '../../../core/dims/dim-algebra.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { SymbolicDims } from '../../../core/dims/symbolic-dims.ts';
import { call } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import type { Captures } from '../../rewriting/captures.ts';
import { any, type AttributePattern, calls, either } from '../../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import type { RewriteContext, RewriteRule } from '../../rewriting/rewrite-rule.ts';

const captured = (name: string): AttributePattern => ({ name, isOptional: true });

const ATTRIBUTES = {
  size: { name: 'size' },
  strides: captured('strides'),
  dilations: captured('dilations'),
  pads: captured('pads'),
  groups: captured('groups'),
};
const [X, W] = [any('x'), any('w')];
const options = { attributes: ATTRIBUTES };

/** Transposed convolutions of images as convolutions, for which the devices have faster kernels. */
export const TRANSPOSED_CONVOLUTIONS: readonly RewriteRule[] = [
  {
    name: 'transposed convolution as convolution',
    explains:
      'Each element of the result is a window of x times the turned weights. With strides, results a stride apart share their weights: they are channels of one convolution, which are then laid side by side.',
    pattern: either(
      calls('conv_transpose', [X, W], options),
      calls('conv_transpose', [X, W, any('bias')], options),
    ),
    types: { x: { rank: 4 }, w: { rank: 4 } },
    makesNaN: true,
    replace: asConvolution,
  },
];

/** The sizes of a transposed convolution along one spatial axis. */
interface Axis {
  readonly size: Dim;
  readonly length: Dim;
  readonly kernel: number;
  readonly stride: number;
  readonly dilation: number;
  /** Results cut off at the begin. */
  readonly pad: number;
  /** Taps of the convolution: those of the kernel that are a stride apart. */
  readonly taps: number;
}

interface Transposed {
  readonly x: Expr;
  readonly w: Expr;
  readonly bias: Expr | undefined;
  readonly batch: Dim;
  readonly channels: number;
  readonly groupOut: number;
  readonly groups: number;
  readonly axes: readonly [Axis, Axis];
}

function asConvolution(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const x = tensorTypeOf(captures.get('x'), types);
  const w = tensorTypeOf(captures.get('w'), types);
  const call = x && w && transposedOf(captures, x, w);
  if (call === undefined) return undefined;
  const hasStrides = call.axes.some(({ stride }) => stride > 1);
  return hasStrides ? inPhases(call) : inOnePhase(call);
}

/** The parts of a call; undefined where a number that matters is not known. */
function transposedOf(captures: Captures, x: TensorType, w: TensorType): Transposed | undefined {
  const groups = Number(captures.attribute('groups') ?? 1);
  const [channels = 0, groupOut = 0] = w.shape.map(Number);
  const size = captures.attribute('size');
  const axisOf = (axis: 0 | 1): Axis => {
    const number = (name: string, absent: number) => captures.integers(name)[axis] ?? absent;
    const [kernel, stride] = [Number(w.shape[axis + 2]), number('strides', 1)];
    return {
      size: Array.isArray(size) ? ((size[axis] as Dim | undefined) ?? 0) : 0,
      length: x.shape[axis + 2] ?? 0,
      kernel,
      stride,
      dilation: number('dilations', 1),
      pad: number('pads', 0),
      taps: Math.ceil(kernel / stride),
    };
  };
  const axes = [axisOf(0), axisOf(1)] as const;
  const numbers = axes.flatMap((axis) => [axis.kernel, axis.stride, axis.dilation, axis.pad]);
  const isKnown = [channels, groupOut, groups, ...numbers].every(Number.isSafeInteger);
  if (!isKnown || axes.some(({ kernel }) => kernel === 0) || channels === 0) return undefined;
  const bias = captures.find('bias');
  const operands = { x: captures.get('x'), w: captures.get('w'), bias };
  return { ...operands, batch: x.shape[0] ?? 1, channels, groupOut, groups, axes };
}

/** Without strides: what is cut off is padding that the convolution does not add. */
function inOnePhase(transposed: Transposed): Expr | undefined {
  const { axes, x, bias, groups } = transposed;
  const dims = new SymbolicDims();
  const before = axes.map(({ kernel, dilation, pad }) => dilation * (kernel - 1) - pad);
  const after = axes.map(({ size, length, pad }) => dims.add(dims.sub(size, length), pad));
  const pads = [...before, ...after];
  if (!pads.every((pad) => typeof pad === 'number' && pad >= 0)) return undefined;
  const weights = turnedWeights(transposed);
  const operands = bias === undefined ? [x, weights] : [x, weights, bias];
  return call('conv2d', operands, { pads, dilations: axes.map((axis) => axis.dilation), groups });
}

/** With strides: a convolution for all results of a stride at once, whose channels they are. */
function inPhases(transposed: Transposed): Expr | undefined {
  const { axes, x, bias, batch, groups, groupOut } = transposed;
  const dims = new SymbolicDims();
  const [across, down] = [axes[1], axes[0]];
  const counts = axes.map(({ length, taps }) => dims.add(length, taps - 1));
  const whole = axes.map(({ stride }, axis) => dims.mul(counts[axis] ?? 0, stride));
  const ends = axes.map(({ size, pad }) => dims.add(size, pad));
  const isInside = ends.every((end, axis) => proveLessEqual(end, whole[axis] ?? 0));
  if (!isInside || axes.some(({ dilation }) => dilation > 1)) return undefined;
  const channels = groups * groupOut;
  const phases = down.stride * across.stride;
  const operands = [x, turnedWeights(transposed)];
  if (bias !== undefined) {
    const column = call('reshape', [bias], { shape: [channels, 1] });
    const repeated = call('broadcast_to', [column], { shape: [channels, phases] });
    operands.push(call('reshape', [repeated], { shape: [channels * phases] }));
  }
  const around = axes.map(({ taps }) => taps - 1);
  const sums = call('conv2d', operands, { pads: [...around, ...around], groups });
  const split = call('reshape', [sums], {
    shape: [batch, channels, down.stride, across.stride, ...counts],
  });
  const sideBySide = call('transpose', [split], { perm: [0, 1, 4, 2, 5, 3] });
  const image = call('reshape', [sideBySide], { shape: [batch, channels, ...whole] });
  const starts = [0, 0, ...axes.map(({ pad }) => pad)];
  return call('slice', [image], { starts, ends: [batch, channels, ...ends] });
}

/**
 * (C, K / groups, R, S) as (K * phases, C / groups, taps, taps): the taps of a phase are a stride
 * apart, and the last comes first.
 */
function turnedWeights({ w, channels, groupOut, groups, axes }: Transposed): Expr {
  const [down, across] = axes;
  const missing = axes.map(({ kernel, stride, taps }) => stride * taps - kernel);
  const filled = missing.every((count) => count === 0)
    ? w
    : call('pad', [w], { pads: [0, 0, 0, 0, 0, 0, ...missing] });
  const shape = [groups, channels / groups, groupOut];
  for (const { taps, stride } of axes) shape.push(taps, stride);
  const split = call('reshape', [filled], { shape });
  const isTurned = (axis: number): boolean => axis === 3 || axis === 5;
  const turned = call('slice', [split], {
    starts: shape.map((_, axis) => (isTurned(axis) ? -1 : 0)),
    ends: shape.map((size, axis) => (isTurned(axis) ? -size - 1 : size)),
    steps: shape.map((_, axis) => (isTurned(axis) ? -1 : 1)),
  });
  const moved = call('transpose', [turned], { perm: [0, 2, 4, 6, 1, 3, 5] });
  const outputs = groups * groupOut * down.stride * across.stride;
  return call('reshape', [moved], {
    shape: [outputs, channels / groups, down.taps, across.taps],
  });
}
