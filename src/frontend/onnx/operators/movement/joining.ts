import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { formatDim } from '../../../../core/dims/dim.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import { MOST_JOINED } from '../../../../ops/movement/concat.ts';
import type { ImportNode } from '../../import-node.ts';
import { cutAlong } from './slice-along.ts';

/** Any number of tensors one after the other: a tree of what kernels take. */
export function concatParts(node: ImportNode, parts: readonly Expr[], axis: number): Expr {
  let level = parts;
  while (level.length > MOST_JOINED) {
    const joined: Expr[] = [];
    for (let i = 0; i < level.length; i += MOST_JOINED) {
      const some = level.slice(i, i + MOST_JOINED);
      joined.push(...(some.length === 1 ? some : [node.call('concat', some, { axis })]));
    }
    level = joined;
  }
  return node.call('concat', level, { axis });
}

function importConcat(node: ImportNode): Expr {
  const inputs = node.allInputs();
  const axis = node.opset < 4 ? node.attributes.int('axis', 1) : node.attributes.int('axis');
  if (axis === undefined) throw node.malformed('no axis', 'one');
  const rank = node.shape(node.input(0)).length;
  return concatParts(node, inputs, normalizeAxis(axis, rank, node.where));
}

function importSplit(node: ImportNode): readonly Expr[] {
  const x = node.input(0);
  const shape = node.shape(x);
  const axis = normalizeAxis(node.attributes.int('axis', 0), shape.length, node.where);
  return cutAlong(node, x, { axis, sizes: splitSizes(node, shape[axis] ?? 0) });
}

function splitSizes(node: ImportNode, dim: Dim): readonly Dim[] {
  const { dims, opset, outputCount: parts } = node;
  const given =
    (opset < 13 ? node.attributes.ints('split') : undefined) ??
    (opset === 1 || opset >= 13 ? node.dimsInput(1, 'split sizes') : undefined);
  const declared = opset >= 18 ? node.attributes.int('num_outputs') : undefined;
  if (declared !== undefined && declared !== parts) {
    throw node.malformed(`num_outputs ${declared}`, `the number of outputs, ${parts}`);
  }
  const size = dims.floordiv(dims.add(dim, parts - 1), parts);
  const sizes =
    given ??
    Array.from({ length: parts }, (_, i) =>
      dims.max(dims.min(size, dims.sub(dim, dims.mul(size, i))), 0),
    );
  const total = sizes.reduce<Dim>((sum, part) => dims.add(sum, part), 0);
  const isNegative = sizes.some((part) => typeof part === 'number' && part < 0);
  const isWrong = typeof total === 'number' && typeof dim === 'number' && total !== dim;
  if (isNegative || isWrong || sizes.length !== parts) {
    const wanted = `a split of ${formatDim(dim)} into ${parts}`;
    throw node.malformed(`parts ${sizes.map(formatDim).join(', ')}`, wanted);
  }
  return sizes;
}

function importTile(node: ImportNode): Expr {
  const x = node.input(0);
  const rank = node.shape(x).length;
  if (node.opset >= 6) {
    const repeats = node.dimsInput(1, 'repeats');
    if (repeats === undefined) throw node.malformed('no repeats', 'one for each axis');
    return node.call('tile', [x], { repeats });
  }
  const [times = 1] = node.dimsInput(1, 'repeats') ?? [];
  const given = node.numberInput(2, 'axes') ?? 0;
  const axis = normalizeAxis(given, rank, node.where);
  const repeats = Array.from({ length: rank }, (_, i) => (i === axis ? times : 1));
  return node.call('tile', [x], { repeats });
}

export const JOINING_IMPORTERS: OperatorImporters = {
  Concat: since(1, 'concat', importConcat),
  Split: since(1, 'slice', importSplit),
  Tile: since(1, 'tile', importTile),
};
