import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import { melMatrix } from '../../../../ops/dynamic/sizes.reference.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import { cast, number } from '../elementwise/elementwise.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { sliceAlong } from '../movement/slice-along.ts';

interface FourierTransform {
  readonly axis: number;
  /** The input is cut or filled up with zeros to this. */
  readonly length: Dim;
  readonly inverse: boolean;
  readonly onesided: boolean;
}

/** Shorter transforms are summed as they are defined; longer ones would need too large tables. */
const SPLIT_LENGTHS = { least: 128, most: 2 ** 20 };

/** The transform of a tensor (..., 1) or (..., 2) along an axis that is not the last. */
function fourierTransform(node: ImportNode, x: Expr, how: FourierTransform): Expr {
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

/** The axis is an attribute up to version 19, then an input. */
function importDft(node: ImportNode): Expr {
  const { attributes, dims } = node;
  const x = node.input(0);
  const shape = node.shape(x);
  const inverse = attributes.bool('inverse');
  const onesided = attributes.bool('onesided');
  const given = node.inputs[1] === undefined ? undefined : node.dimsInput(1, 'lengths')?.[0];
  // Half of a spectrum says nothing about whether its transform was of an odd length.
  const lengthOf = (size: Dim): Dim =>
    given ?? (inverse && onesided ? dims.mul(dims.max(dims.sub(size, 1), 0), 2) : size);
  if (node.opset >= 20 && node.isComputed(2)) {
    return transformAlong(node, x, { lengthOf, inverse, onesided });
  }
  const chosen = node.opset >= 20 ? (node.numberInput(2, 'axes') ?? -2) : attributes.int('axis', 1);
  const axis = normalizeAxis(chosen, shape.length, node.where);
  const length = lengthOf(shape[axis] ?? 1);
  return fourierTransform(node, x, { axis, length, inverse, onesided });
}

interface RunTimeTransform extends Omit<FourierTransform, 'axis' | 'length'> {
  readonly lengthOf: (size: Dim) => Dim;
}

/** A transform along an axis that only the running program knows. */
function transformAlong(node: ImportNode, x: Expr, { lengthOf, ...how }: RunTimeTransform): Expr {
  const { dims } = node;
  const shape = node.shape(x);
  const what = 'the axis';
  const axis = node.reshape(cast(node, node.input(2), 'int64'), [1]);
  const [before = 1, size = 1, rest = 1] = node.readSizes('axis_sizes', axis, {
    what,
    dims: shape,
  });
  const parts = shape.at(-1) ?? 1;
  const view = node.reshape(x, [before, size, dims.floordiv(rest, parts), parts]);
  const y = fourierTransform(node, view, { axis: 1, length: lengthOf(size), ...how });
  const [, outSize = 1, , outParts = 1] = node.shape(y);
  const integers = [axis, node.call('dims_tensor', [], { dims: [outSize] })];
  const sizes = node.readSizes('resized_axis_sizes', node.call('concat', integers, { axis: 0 }), {
    what,
    dims: shape,
  });
  return node.reshape(y, [...sizes.slice(0, -1), outParts]);
}

function importStft(node: ImportNode): Expr {
  const given = node.input(0);
  const { dtype, shape } = node.type(given);
  const signal = shape.length === 2 ? node.reshape(given, [...shape, 1]) : given;
  const window = node.inputs[2];
  const [step = 1] = node.dimsInput(1, 'frame steps') ?? [];
  const length = node.inputs[3] === undefined ? undefined : node.dimsInput(3, 'frame lengths')?.[0];
  const size = length ?? (window && node.shape(window)[0]);
  if (size === undefined) throw node.malformed('no frame length', 'that, or a window');
  const pieces = node.call('frames', [signal], { axis: 1, size: [size], step: [step] });
  const weights = window && node.reshape(cast(node, window, dtype), [size, 1]);
  const weighted = weights === undefined ? pieces : node.call('mul', [pieces, weights]);
  const onesided = node.attributes.bool('onesided', true);
  return fourierTransform(node, weighted, { axis: 2, length: size, inverse: false, onesided });
}

/** Windows that are sums of cosines, of one and of two periods. */
const cosineWindow =
  (base: number, once: number, twice: number): NodeImporter =>
  (node) => {
    const dtype = dtypeFromOnnx(node.attributes.int('output_datatype', 1), node.where);
    const isPeriodic = node.attributes.bool('periodic', true);
    const [size = 0] = node.dimsInput(0, 'sizes') ?? [];
    const { dims } = node;
    const period = dims.max(isPeriodic ? size : dims.sub(size, 1), 1);
    if (typeof size === 'number' && typeof period === 'number') {
      const window = node.table('float64', [size], (i) => {
        const angle = (2 * Math.PI * i) / period;
        return base + once * Math.cos(angle) + twice * Math.cos(2 * angle);
      });
      return cast(node, window, dtype);
    }
    const computed = dtype === 'float64' ? dtype : 'float32';
    const index = cast(node, node.call('arange', [], { start: [0], size: [size] }), computed);
    const periods = cast(node, node.call('dims_tensor', [], { dims: [period] }), computed);
    const scaled = (x: Expr, factor: number) => node.call('mul', [x, number(node, x, factor)]);
    const angle = node.call('div', [scaled(index, 2 * Math.PI), periods]);
    const cosine = node.call('cos', [angle]);
    const sum = node.call('add', [scaled(cosine, once), number(node, cosine, base)]);
    if (twice === 0) return cast(node, sum, dtype);
    const double = node.call('cos', [scaled(angle, 2)]);
    return cast(node, node.call('add', [sum, scaled(double, twice)]), dtype);
  };

function importMelWeightMatrix(node: ImportNode): Expr {
  const dtype = dtypeFromOnnx(node.attributes.int('output_datatype', 1), node.where);
  const inputs = [0, 1, 2, 3, 4].map((index) => node.input(index));
  if (inputs.every(({ kind }) => kind === 'constant')) {
    const [bins = 0, length = 0, rate = 0, lower = 0, upper = 0] = inputs.map((_, index) =>
      node.numberInput(index, 'numbers'),
    );
    const matrix = melMatrix({ bins, length, rate, lower, upper }, node.where);
    return cast(node, node.constant(matrix), dtype);
  }
  const operands = inputs.map((input, i) => (i < 3 ? input : cast(node, input, 'float32')));
  return cast(node, node.call('mel_weights', operands, { where: node.where }), dtype);
}

export const SIGNAL_IMPORTERS: OperatorImporters = {
  BlackmanWindow: since(17, 'cos arange cast mul div add', cosineWindow(0.42, -0.5, 0.08)),
  DFT: since(17, 'dft reshape concat twiddles', importDft),
  HammingWindow: since(17, 'cos arange cast mul div add', cosineWindow(25 / 46, -21 / 46, 0)),
  HannWindow: since(17, 'cos arange cast mul div add', cosineWindow(0.5, -0.5, 0)),
  MelWeightMatrix: since(17, 'mel_weights cast', importMelWeightMatrix),
  STFT: since(17, 'dft frames reshape mul twiddles', importStft),
};
