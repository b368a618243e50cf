import { elementCount } from '../../core/tensor/shape.ts';
import type { CoordinateMap, IndexCall, IndexSource } from '../define-op.ts';
import type {
  ElementNode,
  IndexExpression,
  IndexNode,
  IntegerType,
  ParameterNode,
} from './expression.ts';

/** An index map with layouts that code may use for the last axes. */
export interface MapLayout extends ReadIndexMap {
  /**
   * Axes at the end, in the output and in every source, that may be counted as one because each
   * source reads them at the output's own coordinates. 0: the map uses every coordinate.
   */
  readonly trailingAxes: number;
  /** Product of the output's trailing axes; 1 for none. */
  readonly innerSize: number;
  /** True if four adjacent output elements are four adjacent, aligned elements of one source. */
  readonly isVectorizable: boolean;
}

/** An axis that a source reads at the output's coordinate, and nowhere else, is passed through unchanged. */
export function analyzeIndexMap(map: CoordinateMap, call: IndexCall): MapLayout {
  const { inputs, output } = call;
  const read = readIndexMap(map, call);
  const { sources } = read;
  const rank = output.shape.length;
  const isPassed = (fromEnd: number) =>
    sources.every((source) => passesThrough(source, rank - fromEnd, fromEnd));
  const sameSize = (fromEnd: number) =>
    sources.every(({ input }) => inputs[input]?.shape.at(-fromEnd) === output.shape.at(-fromEnd));
  let trailingAxes = 0;
  while (
    trailingAxes < rank &&
    isPassed(trailingAxes + 1) &&
    (trailingAxes === 0 || sameSize(trailingAxes))
  ) {
    trailingAxes++;
  }
  // Axes can be merged only when all but the outermost of them have equal sizes.
  const innerSize = elementCount(output.shape.slice(rank - trailingAxes));
  const sourceSizes = sources.map(({ input }) =>
    elementCount((inputs[input]?.shape ?? []).slice(-trailingAxes)),
  );
  const isVectorizable =
    trailingAxes > 0 && [innerSize, ...sourceSizes].every((size) => size % 4 === 0);
  return { ...read, trailingAxes, innerSize, isVectorizable };
}

function passesThrough({ coords, when }: IndexSource, axis: number, fromEnd: number): boolean {
  const own = coords.at(-fromEnd);
  if (own?.kind !== 'coordinate' || own.axis !== axis) return false;
  const others = coords.toSpliced(-fromEnd, 1);
  return ![...others, when].some((node) => node !== undefined && uses(node, axis));
}

/** Returns true if the value depends on the coordinate of an axis. */
function uses(node: IndexNode, axis: number): boolean {
  if (node.kind === 'coordinate') return node.axis === axis;
  return 'operands' in node && node.operands.some((operand) => uses(operand, axis));
}

/** The index map of one call, as data. */
interface ReadIndexMap {
  readonly sources: readonly IndexSource[];
  /** The parameters and the elements that the sources are made of, each before what it is part of. */
  readonly values: readonly (ParameterNode | ElementNode)[];
}

function readIndexMap(map: CoordinateMap, call: IndexCall): ReadIndexMap {
  const values: (ParameterNode | ElementNode)[] = [];
  const kept = <Node extends ParameterNode | ElementNode>(node: Node): Node => {
    values.push(node);
    return node;
  };
  const sources = map.sources({
    ...call,
    coords: call.output.shape.map((_, axis) => ({ kind: 'coordinate', axis, type: 'u32' })),
    param: <T extends IntegerType>(value: number, type: T): IndexExpression<T> =>
      kept({ kind: 'parameter', value, type }),
    integer: (input, operands) => kept({ kind: 'element', input, operands, type: 'i32' }),
  });
  return { sources, values };
}
