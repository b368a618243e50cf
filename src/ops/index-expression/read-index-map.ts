import type { CoordinateMap, IndexCall, IndexSource } from '../define-op.ts';
import type { ElementNode, IndexExpression, IntegerType, ParameterNode } from './expression.ts';

/** The index map of one call, as data. */
export interface ReadIndexMap {
  readonly sources: readonly IndexSource[];
  /** The parameters and the elements that the sources are made of, each before what it is part of. */
  readonly values: readonly (ParameterNode | ElementNode)[];
}

/** The index map of a call. */
export function readIndexMap(map: CoordinateMap, call: IndexCall): ReadIndexMap {
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
