import { call, func, scalar, variable } from '../../compiler/ir/build.ts';
import type { Expr, FunctionExpr } from '../../compiler/ir/expr.ts';

/** Of 24 random bits, which float32 has exactly: what one of them counts. */
const UNIT = 2 ** -24;

/**
 * `(keys: uint32 (b, 2), first: int32 (b,))` to numbers of the standard Gumbel distribution, float32 (b, chunk, vocabulary).
 * Number (i, t) of a row is of the first of Threefry's words under the row's key for the counter (t, first + i). So a seed and
 * a position decide it, on whatever device, in whatever batch and however often a generation was stopped and resumed.
 */
export function gumbelNoise(chunk: number, vocabulary: number): FunctionExpr {
  const keys = variable('keys', 'uint32', ['b', 2]);
  const first = variable('first', 'int32', ['b']);
  const [left, right] = [0, 1].map((index) => {
    const half = call('slice', [keys], { starts: [0, index], ends: ['b', index + 1] });
    return call('reshape', [half], { shape: ['b', 1, 1] });
  }) as [Expr, Expr];
  const count = (size: number): Expr =>
    call('cast', [call('arange', [], { start: [0], size: [size] })], { to: 'uint32' });
  const tokens = call('reshape', [count(vocabulary)], { shape: [1, 1, vocabulary] });
  const begin = call('reshape', [call('cast', [first], { to: 'uint32' })], { shape: ['b', 1, 1] });
  const after = call('reshape', [count(chunk)], { shape: [1, chunk, 1] });
  const bits = call('threefry', [left, right, tokens, call('add', [begin, after])], {});
  const upper = call('cast', [call('shift_right', [bits, scalar(8, 'uint32')])], { to: 'float32' });
  const uniform = call('maximum', [call('mul', [upper, scalar(UNIT)]), scalar(UNIT / 2)]);
  // Large numbers, which decide what is drawn, come of small uniform ones: log1p is exact there, and log near 1 is not.
  const exponential = call('neg', [call('log1p', [call('neg', [uniform])])]);
  return func([keys, first], call('neg', [call('log', [exponential])]), { private: true });
}
