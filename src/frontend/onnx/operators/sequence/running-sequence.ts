import * as ir from '../../../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../../../compiler/ir/expr.ts';
import {
  formatType,
  INT_TYPE,
  tensorType,
  type TensorTypeNode,
  type Type,
} from '../../../../compiler/ir/type.ts';
import { SymbolicTensor } from '../../../../compiler/values/symbolic-tensor.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { closedType, listType } from '../../composite-values.ts';
import { hostInteger } from '../../sizes/host-integer.ts';
import type { Block } from '../../graph-scope.ts';
import type { ImportNode } from '../../import-node.ts';

/** A sequence, or an optional value, that the running program has: a list or an option, bound in the node's block. */
export interface RunningData {
  readonly value: Expr;
  readonly element: Type;
}

/** The data of a value. Throws FormatError for another kind of value. */
export function runningData(node: ImportNode, expr: Expr, name: 'List' | 'Option'): RunningData {
  const type = closedType(node.dataType(expr));
  const [element] = type.kind === 'adt' && type.name === name ? type.args : [];
  if (element === undefined) throw wrongKind(node, name);
  if (node.composite(expr) === undefined) return { value: expr, element };
  return { value: bindData(node, node.data(expr, type), type), element };
}

export function wrongKind(node: ImportNode, name: 'List' | 'Option'): Error {
  const wanted = name === 'List' ? 'a sequence' : 'an optional value';
  return node.malformed(`an input that is not ${wanted}`, wanted);
}

export function bindData(node: ImportNode, value: Expr, type: Type): VarExpr {
  node.context.useLists();
  return node.block.bind(value, { name: 'data', type, span: node.span });
}

/** An element that the program takes out of data; names stand for sizes that only it knows. */
export function takenOut(
  node: ImportNode,
  value: Expr,
  { type, block = node.block }: { readonly type: Type; readonly block?: Block },
): Expr {
  if (type.kind === 'tensor') return block.name(value, type, node.span);
  return block.bind(value, { name: 'data', type, span: node.span });
}

/** The number of elements, an int. */
export function lengthOf(node: ImportNode, { value }: RunningData): VarExpr {
  return bindInt(node, ir.callFunction(ir.global('length'), [value], node.span));
}

function bindInt(node: ImportNode, value: Expr): VarExpr {
  return node.block.bind(value, { name: 'count', type: INT_TYPE, span: node.span });
}

/** Lets the program stop where lists have different lengths. */
export function requireOneLength(node: ImportNode, lists: readonly RunningData[]): void {
  const [first, ...others] = lists.map((list) => lengthOf(node, list));
  if (first === undefined) return;
  const { message } = node.malformed('sequences of different lengths', 'one length');
  for (const other of others) {
    const isSame = ir.call('int_eq', [first, other]);
    node.block.bind(ir.assertThat(isSame, message), { name: 'same', span: node.span });
  }
}

/** The number of elements as a tensor that shape arithmetic knows. */
export function lengthTensor(node: ImportNode, length: Dim): Expr {
  return node.shapeResult(new SymbolicTensor('int64', [], [length]));
}

/**
 * A position as an int from 0 up, where negative ones count from the end. The program stops where it is not below
 * `count`, or, for insertions, not up to it.
 */
export function placeIn(
  node: ImportNode,
  position: Dim,
  { count, mayBeEnd = false }: { readonly count: Expr; readonly mayBeEnd?: boolean },
): Expr {
  const given = bindInt(node, hostInteger(position, node.block.frame));
  const isNegative = ir.call('int_lt', [given, ir.int(0)]);
  const place = bindInt(node, ir.ifElse(isNegative, ir.call('int_add', [given, count]), given));
  const most = mayBeEnd ? ir.call('int_add', [count, ir.int(1)]) : count;
  const isInside = ir.call('int_mul', [
    ir.call('int_lt', [ir.int(-1), place]),
    ir.call('int_lt', [place, most]),
  ]);
  const { message } = node.malformed(
    'a position outside of the sequence',
    mayBeEnd
      ? 'one from minus the length up to the length'
      : 'one from minus the length up to below it',
  );
  node.block.bind(ir.assertThat(isInside, message), { name: 'inside', span: node.span });
  return place;
}

/** The elements that a function gives for those of a list. */
export function mapList(
  node: ImportNode,
  list: RunningData,
  { type, change }: { readonly type: Type; readonly change: (item: VarExpr) => Expr },
): Expr {
  const item = ir.variableOf('item', list.element);
  const mapped = ir.callFunction(
    ir.global('map'),
    [ir.func([item], change(item)), list.value],
    node.span,
  );
  return bindData(node, mapped, listType(type));
}

/** The same elements with a new axis of size 1. */
export function withAxis(node: ImportNode, list: RunningData, axis: number): RunningData {
  const tensor = tensorOf(node, list);
  const type = tensorType({ dtype: tensor.dtype, shape: tensor.shape.toSpliced(axis, 0, 1) });
  const value = mapList(node, list, {
    type,
    change(item) {
      const named = ir.variableOf(
        'named',
        tensorType({
          dtype: tensor.dtype,
          shape: tensor.shape.map((dim) => (dim === '?' ? node.context.freshSymbol() : dim)),
        }),
      );
      const shape = (named.type?.kind === 'tensor' ? named.type.shape : []).toSpliced(axis, 0, 1);
      return ir.letIn(named, item, ir.call('reshape', [named], { shape }, node.span));
    },
  });
  return { value, element: type };
}

/** The type of elements. Throws UnsupportedError where they have no common rank. */
export function tensorOf(node: ImportNode, { element }: RunningData): TensorTypeNode {
  if (element.kind === 'tensor') return element;
  throw node.unsupported(
    'a sequence of tensors whose rank only the running program knows',
    'tensors of one rank',
    'Give the input a type with a shape, or elements of one rank.',
  );
}

interface RunningSplit {
  readonly axis: number;
  /** The size of parts, an int above 0; the last one may be smaller. */
  readonly size: Expr;
  /** True if parts keep the axis; otherwise they have size 1 along it and lose it. */
  readonly keepsAxis: boolean;
}

/** A list of the parts of a tensor along an axis, of which the running program knows the number. */
export function splitRunning(
  node: ImportNode,
  x: Expr,
  { axis, size, keepsAxis }: RunningSplit,
): RunningData {
  const { dtype, shape } = node.type(x);
  const known = shape.map((dim) => (typeof dim === 'number' ? dim : '?'));
  const part = tensorType({
    dtype,
    shape: keepsAxis ? known.with(axis, '?') : known.toSpliced(axis, 1),
  });
  const list = formatType(listType(part));
  const name = node.context.freshFunctionName('sequence.split');
  const names = known.map((dim, i) => (dim === '?' || i === axis ? `d${i}` : String(dim)));
  const ends = names.map((dim, i) => (i === axis ? 'end' : dim));
  const starts = names.map((_, i) => (i === axis ? 'begin' : '0'));
  const cut = `slice(%x, starts=[${starts.join()}], ends=[${ends.join()}], steps=[${names.map(() => 1).join()}])`;
  const sliced = keepsAxis ? cut : `reshape(${cut}, shape=[${names.toSpliced(axis, 1).join()}])`;
  node.context.addProgram(`
    def @"${name}"(%x: Tensor[(${names.join()},), ${dtype}], %size: int, %at: int, %done: ${list}) -> ${list} {
      %most = dim(%x, axis=${axis});
      if (int_lt(%at, %most)) {
        %next = int_add(%at, %size);
        %stop = if (int_lt(%next, %most)) { %next } else { %most };
        let %ends: Tensor[(0, begin, end), int32] = sizes_of(%at, %stop);
        let %part: ${formatType(part)} = ${sliced};
        @"${name}"(%x, %size, %next, Cons(%part, %done))
      } else {
        @reverse(%done)
      }
    }
  `);
  const parts = ir.callFunction(
    ir.global(name),
    [node.tensor(x), size, ir.int(0), ir.construct('Nil', [])],
    node.span,
  );
  return { value: bindData(node, parts, listType(part)), element: part };
}
