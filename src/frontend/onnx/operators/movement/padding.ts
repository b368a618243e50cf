import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast } from '../elementwise/elementwise.ts';
import { wholeSlice } from './slice-along.ts';

function importPad(node: ImportNode): Expr {
  return padAs(node, node.opset);
}

/** Pads with what a version of ONNX's own operator set takes. */
export function padAs(node: ImportNode, opset: number): Expr {
  const x = node.input(0);
  const rank = node.shape(x).length;
  const mode = node.attributes.string('mode', 'constant');
  const pads = padWidths(node, rank, opset);
  if (opset < 11) {
    const value = node.attributes.float('value', 0);
    return node.call('pad', [x], { pads, mode, value });
  }
  const value = mode === 'constant' ? node.inputs[2] : undefined;
  if (value === undefined) return node.call('pad', [x], { pads, mode, value: 0 });
  const number = fillNumber(node, value);
  if (number !== undefined) return node.call('pad', [x], { pads, mode, value: number });
  return padWith(node, { x, pads, value: node.reshape(value, []) });
}

/** The value where it is a constant that an attribute holds exactly. */
function fillNumber(node: ImportNode, value: Expr): number | undefined {
  const { dtype } = node.type(value);
  const isExact = dtype === 'float32' || dtype === 'int32' || dtype === 'bool';
  if (value.kind !== 'constant' || !(isExact || dtype === 'int64')) return undefined;
  const number = Number(value.value.elements[0] ?? 0);
  return Number.isFinite(number) && Math.abs(number) <= 2 ** 31 ? number : undefined;
}

interface FilledPad {
  readonly x: Expr;
  readonly pads: readonly Dim[];
  /** The value of the padding, a tensor of rank 0. */
  readonly value: Expr;
}

/** Pads with what a tensor holds; all of it fuses. */
function padWith(node: ImportNode, { x, pads, value }: FilledPad): Expr {
  // In float64 the mask stays beside x on the host: only x may have the sizes of both.
  const dtype = node.type(x).dtype === 'float64' ? 'float64' : 'bool';
  const inside = node.call('full', [], { shape: node.shape(x), value: 1, dtype });
  const mask = cast(node, node.call('pad', [inside], { pads }), 'bool');
  return node.call('where', [mask, node.call('pad', [x], { pads }), value]);
}

function padWidths(node: ImportNode, rank: number, opset: number): readonly Dim[] {
  if (opset >= 18 && node.isComputed(3)) {
    const parts = [node.input(1), node.input(3)].map((part) => asInt64(node, node.tensor(part)));
    const integers = node.call('concat', parts, { axis: 0 });
    return node.readSigned('pad_sizes', integers, {
      what: 'pads',
      dims: node.shape(node.input(0)),
    });
  }
  const given =
    opset >= 11 ? padsInput(node) : node.attributes.ints(opset < 2 ? 'paddings' : 'pads');
  const axes = opset >= 18 ? node.intsInput(3, 'axes') : undefined;
  const named = axes?.map((axis) => normalizeAxis(axis, rank, node.where)) ?? [
    ...Array.from({ length: rank }).keys(),
  ];
  if (given?.length !== 2 * named.length) {
    throw node.malformed(`${given?.length ?? 'no'} pads`, `${2 * named.length}`);
  }
  const pads = new Array<Dim>(2 * rank).fill(0);
  for (const [i, axis] of named.entries()) {
    pads[axis] = given[i] ?? 0;
    pads[rank + axis] = given[named.length + i] ?? 0;
  }
  return pads;
}

function padsInput(node: ImportNode): readonly Dim[] | undefined {
  if (!node.isComputed(1)) return node.dimsInput(1, 'pads');
  return node.readSigned('signed_sizes', node.input(1), { what: 'pads' });
}

function asInt64(node: ImportNode, x: Expr): Expr {
  return node.type(x).dtype === 'int64' ? x : node.call('cast', [x], { to: 'int64' });
}

/** An odd element goes behind where axes are padded, and is cut behind where they are cropped. */
function importCenterCropPad(node: ImportNode): Expr {
  const x = node.input(0);
  const { dims } = node;
  const shape = node.shape(x);
  const rank = shape.length;
  const axes = node.attributes.ints('axes')?.map((axis) => normalizeAxis(axis, rank, node.where));
  const sizes = node.dimsInput(1, 'sizes') ?? [];
  const part = wholeSlice(shape);
  const pads = new Array<Dim>(2 * rank).fill(0);
  for (const [i, axis] of (axes ?? [...shape.keys()]).entries()) {
    const dim = shape[axis] ?? 1;
    const size = sizes[i];
    if (size === undefined) throw node.malformed(`${sizes.length} sizes`, 'one for each axis');
    const begin = dims.floordiv(dims.max(dims.sub(dim, size), 0), 2);
    part.starts[axis] = begin;
    part.ends[axis] = dims.add(begin, dims.min(dim, size));
    const missing = dims.max(dims.sub(size, dim), 0);
    pads[axis] = dims.floordiv(missing, 2);
    pads[rank + axis] = dims.sub(missing, dims.floordiv(missing, 2));
  }
  return node.call('pad', [node.call('slice', [x], { ...part })], { pads });
}

export const PADDING_IMPORTERS: OperatorImporters = {
  CenterCropPad: since(18, 'slice pad', importCenterCropPad),
  Pad: since(1, 'pad concat full reshape where cast', importPad),
};
