import type { Expr } from '../../../compiler/ir/expr.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import { describeStray, findStrayIndex } from '../../../core/contracts/index-checks.ts';
import { formatShape } from '../../../core/tensor/shape.ts';
import type { ImportNode } from '../import-node.ts';

/** The demand of an operator on its indices. */
export interface IndexRange {
  /** One for all elements, or one for each place along the last axis. */
  readonly lower: readonly Dim[];
  /** The least number that is too large, as many as of `lower`. */
  readonly below: readonly Dim[];
  /** An index that is allowed all the same. */
  readonly except?: number | undefined;
}

/** From the begin of an axis, or from its end. */
export function alongAxis(node: ImportNode, size: Dim): IndexRange {
  return { lower: [node.dims.sub(0, size)], below: [size] };
}

/** From the begin of an axis only. */
export function fromBegin(size: Dim): IndexRange {
  return { lower: [0], below: [size] };
}

/**
 * An input of indices, which are to keep to a range: constants are looked at now, what comes in with a
 * call is checked before anything runs, and what is computed if `check: 'indices'` asks for it. Throws
 * FormatError for constants.
 */
export function indicesInput(node: ImportNode, index: number, range: IndexRange): Expr {
  const given = node.input(index);
  const value = node.shapeValue(given)?.toHost();
  const known = given.kind === 'constant' ? given.value : value;
  if (known !== undefined) {
    const bounds = numbersOf(range);
    if (bounds === undefined && node.block.isAlwaysReached) {
      const values = extremes(known.data, range.lower.length);
      if (node.context.indexChecks.add({ values, where: node.where, ...range })) return given;
    }
    const stray = bounds && findStrayIndex(known.data, bounds);
    if (stray === undefined) return bounds === undefined ? computed(node, given, range) : given;
    const { got, expected } = describeStray(stray, known.shape);
    throw node.malformed(got, expected);
  }
  const parameter = node.parameterOf(given);
  if (parameter !== undefined) {
    const isKnown = node.context.indexChecks.add({ parameter, where: node.where, ...range });
    if (isKnown) return given;
  }
  return computed(node, given, range);
}

/** Indices that only the running program can check. */
function computed(node: ImportNode, given: Expr, { lower, below, except }: IndexRange): Expr {
  if (!node.context.isEveryIndexChecked) return given;
  const indices = node.tensor(given);
  const { dtype, shape } = node.type(indices);
  if (dtype !== 'int32' && dtype !== 'int64') {
    const got = `${dtype} ${formatShape(shape.map(formatDim))} as indices`;
    throw node.unsupported(got, 'int32 or int64');
  }
  return node.call('check_indices', [indices], {
    lower: [...lower],
    below: [...below],
    ...(except === undefined ? {} : { except }),
    where: node.where,
  });
}

/** The least of every `period`-th index, then the largest. */
function extremes(indices: ArrayLike<number | bigint>, period: number): number[] {
  const least = new Array<number>(period).fill(Infinity);
  const most = new Array<number>(period).fill(-Infinity);
  for (let i = 0; i < indices.length; i++) {
    const value = Number(indices[i]);
    least[i % period] = Math.min(least[i % period] ?? value, value);
    most[i % period] = Math.max(most[i % period] ?? value, value);
  }
  return indices.length === 0 ? [] : [...least, ...most];
}

function numbersOf({ lower, below, except }: IndexRange) {
  const isNumber = (dim: Dim): dim is number => typeof dim === 'number';
  if (!lower.every(isNumber) || !below.every(isNumber)) return undefined;
  return { lower, below, except };
}
