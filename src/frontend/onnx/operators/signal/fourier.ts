import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast } from '../elementwise/elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';

export interface FourierTransform {
  readonly axis: number;
  /** The input is cut or filled up with zeros to this. */
  readonly length: Dim;
  readonly inverse: boolean;
  readonly onesided: boolean;
}

/** Shorter transforms are summed as they are defined; longer ones would need too large tables. */
const SPLIT_LENGTHS = { least: 128, most: 2 ** 20 };

/** The transform of a tensor (..., 1) or (..., 2) along an axis that is not the last. */
export function fourierTransform(node: ImportNode, x: Expr, how: FourierTransform): Expr {
  const { dtype } = node.type(x);
  const wide = cast(node, x, dtype === 'float64' ? dtype : 'float32');
  const factor = how.inverse && how.onesided ? 1 : factorOf(how.length);
  const y = factor === 1 ? sumsOf(node, wide, how) : splitTransform(node, wide, { ...how, factor });
  return cast(node, y, dtype);
}

function sumsOf(node: ImportNode, x: Expr, { length, ...how }: FourierTransform): Expr {
  const { dtype } = node.type(x);
  const table = node.call('twiddles', [], { length: [length], dtype });
  return node.call('dft', [x, table], how);
}

/** The factor of a length that is nearest to its root, where splitting by it saves work. */
function factorOf(length: Dim): number {
  if (typeof length !== 'number') return 1;
  if (length < SPLIT_LENGTHS.least || length > SPLIT_LENGTHS.most) return 1;
  let factor = Math.floor(Math.sqrt(length));
  while (length % factor !== 0) factor--;
  return factor + length / factor <= length / 4 ? factor : 1;
}

/**
 * A transform of m n elements as n of m elements, turns, and m of n elements: J. Cooley, J. Tukey,
 * "An algorithm for the machine calculation of complex Fourier series" (1965).
 */
function splitTransform(
  node: ImportNode,
  x: Expr,
  { axis, factor, inverse, onesided, ...how }: FourierTransform & { readonly factor: number },
): Expr {
  const length = Number(how.length);
  const other = length / factor;
  const shape = node.shape(x);
  const pads = new Array<Dim>(2 * shape.length).fill(0);
  pads[shape.length + axis] = node.dims.sub(length, shape[axis] ?? 1);
  const fitted = node.call('pad', [x], { pads });
  const before = shape.slice(0, axis);
  const after = shape.slice(axis + 1, -1);
  const columns = node.reshape(fitted, [...before, factor, other, ...after, shape.at(-1) ?? 1]);
  const both = { inverse, onesided: false };
  const inner = sumsOf(node, columns, { axis, length: factor, ...both });
  const turned = turn(node, inner, { axis, factor, other, direction: inverse ? 1 : -1 });
  const outer = sumsOf(node, turned, { axis: axis + 1, length: other, ...both });
  const order = [...node.shape(outer).keys()];
  order.splice(axis, 2, axis + 1, axis);
  const ordered = node.call('transpose', [outer], { perm: order });
  const whole = node.reshape(ordered, [...before, length, ...after, 2]);
  if (!onesided) return whole;
  return sliceAlong(node, whole, { axis, start: 0, end: Math.floor(length / 2) + 1 });
}

interface Turns {
  readonly axis: number;
  readonly factor: number;
  readonly other: number;
  readonly direction: number;
}

/** Complex numbers times e^(2 π i j k / (factor other)) for their places j and k along two axes. */
function turn(node: ImportNode, x: Expr, { axis, factor, other, direction }: Turns): Expr {
  const { dtype, shape } = node.type(x);
  const table = (parts: (angle: number) => readonly number[]) => {
    const values: number[] = [];
    for (let j = 0; j < factor; j++) {
      for (let k = 0; k < other; k++) {
        values.push(...parts((direction * 2 * Math.PI * j * k) / (factor * other)));
      }
    }
    const tail = new Array<number>(shape.length - axis - 3).fill(1);
    return node.constant(HostTensor.from(dtype, [factor, other, ...tail, 2], values));
  };
  const cosines = table((angle) => [Math.cos(angle), Math.cos(angle)]);
  const sines = table((angle) => [-Math.sin(angle), Math.sin(angle)]);
  const swapped = node.call('gather', [x, node.int64s([1, 0])], { axis: shape.length - 1 });
  return node.call('add', [node.call('mul', [x, cosines]), node.call('mul', [swapped, sines])]);
}
