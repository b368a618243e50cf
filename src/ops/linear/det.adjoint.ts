import { UnsupportedError } from '../../core/errors.ts';
import type { AdjointRule } from '../adjoint/adjoint.ts';

/**
 * The cofactors, as determinants of what is left without a row and a column: right for singular
 * matrices too, which have no inverse.
 */
export const detAdjoint: AdjointRule = ({ inputs: [x], cotangent, graph }) => {
  const size = x?.shape.at(-1);
  if (x === undefined || size === 0) return [];
  if (typeof size !== 'number') {
    throw new UnsupportedError({
      where: 'det',
      got: 'a derivative for matrices of a symbolic size',
      expected: 'a size that is a number when the program is compiled',
    });
  }
  const batch = x.shape.slice(0, -2);
  const rank = batch.length;
  const others = Array.from({ length: size }, (_, skipped) =>
    Array.from({ length: size - 1 }, (_, i) => (i < skipped ? i : i + 1)),
  );
  const places = graph.integers(others.flat());
  // (…, size, size - 1, size, size - 1): without a row, without a column.
  const rows = graph.call('gather', [x, places], { axis: rank });
  const both = graph.call('gather', [rows, places], { axis: rank + 1 });
  const split = graph.reshape(both, [...batch, size, size - 1, size, size - 1]);
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const minors = graph.transpose(split, [...axes, rank, rank + 2, rank + 1, rank + 3]);
  const determinants = graph.call('det', [minors]);
  const odd = others.map((_, i) => others.map((_, j) => (i + j) % 2)).flat();
  const isOdd = graph.cast(graph.reshape(graph.integers(odd), [size, size]), 'bool');
  const cofactors = graph.where(isOdd, graph.neg(determinants), determinants);
  return [graph.mul(cofactors, graph.reshape(cotangent, [...batch, 1, 1]))];
};
