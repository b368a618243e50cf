import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { type GradientProgram, textProgram } from './gradient-program.ts';

const S = 'Tensor[(), float64]';
const V = 'Tensor[(n,), float64]';

/** Programs over sizes that are symbols, or that elements decide. */
export const SIZE_PROGRAMS: readonly GradientProgram[] = [
  textProgram(
    'elements above a limit, chosen by where they stand',
    `def @f(%x: ${V}, %w: ${S}) -> ${S} {
      let %at: Tensor[(1, k), int64] = nonzero(greater(%x, 0f64));
      %chosen = gather(%x, reshape(%at, shape=[k]), axis=0);
      reduce_sum(mul(%w, mul(%chosen, exp(%chosen))))
    }`,
    [[0.5, -1.2, 0.25, 2], 0.3],
  ),
  textProgram(
    'one sum for each different key',
    `def @f(%keys: Tensor[(n,), int32], %x: ${V}) -> ${S} {
      let %at: Tensor[(u,), int64] = unique_indices(%keys);
      %groups = reshape(unique_inverse(%keys), shape=[n, 1]);
      %sums = scatter_nd(full(shape=[u], value=0, dtype="float64"), %groups, %x, reduction="add");
      reduce_sum(mul(exp(%sums), gather(%x, %at, axis=0)))
    }`,
    [HostTensor.from('int32', [5], [7, 3, 7, 9, 3]), [0.2, -0.5, 0.9, 0.4, -0.1]],
  ),
  textProgram(
    'broadcasting between sizes that are symbols',
    `def @f(%x: Tensor[(n, 1, 3), float64], %y: Tensor[(m, 1), float64], %z: Tensor[(1, 3), float64], %s: ${S})
        -> ${S} {
      %a = add(mul(%x, %y), mul(%z, %s));
      %b = div(sin(%a), add(%x, 3f64));
      reduce_mean(mul(%b, maximum(%y, %z)))
    }`,
    [[[[0.3, -0.2, 0.5]], [[0.1, 0.8, -0.6]]], [[0.5], [-0.9]], [[0.4, -0.3, 1.1]], 0.7],
  ),
  textProgram(
    'a vector that doubles until its sum is large',
    `def @grow(%x: ${V}) -> Tensor[(?,), float64] {
      if (less(reduce_sum(abs(%x)), 6f64)) { @grow(concat(%x, mul(%x, 0.9f64), axis=0)) } else { %x }
    }
    def @f(%x: ${V}, %w: ${S}) -> ${S} {
      let %y: Tensor[(k,), float64] = @grow(mul(%x, %w));
      reduce_mean(mul(%y, sin(%y)))
    }`,
    [[0.5, -1.2], 0.8],
  ),
  textProgram(
    'parts of a vector in a list, each of its own length',
    `def @halves(%x: ${V}, %k: int) -> List[Tensor[(?,), float64]] {
      if (%k) {
        let %at: Tensor[(1, p), int64] = nonzero(greater(%x, 0f64));
        let %part = gather(%x, reshape(%at, shape=[p]), axis=0);
        Cons(%part, @halves(sub(%x, 0.4f64), int_sub(%k, #1)))
      } else { Nil }
    }
    def @f(%x: ${V}) -> ${S} {
      @foldl(fn (%sum: ${S}, %part: Tensor[(?,), float64]) {
        add(mul(%sum, 0.5f64), reduce_sum(mul(%part, %part)))
      }, 0f64, @halves(%x, #3))
    }`,
    [[0.5, -0.2, 1.3, 0.7]],
  ),
  textProgram(
    'rows that are looked up more than once',
    `def @f(%table: Tensor[(5, 2), float64], %ids: Tensor[(n,), int64], %w: Tensor[(2,), float64]) -> ${S} {
      %rows = gather(%table, %ids, axis=0);
      reduce_sum(log(add(1f64, exp(matmul(%rows, %w)))))
    }`,
    [
      [
        [0.1, -0.4],
        [0.6, 0.2],
        [-0.5, 0.9],
        [0.3, 0.3],
        [0.8, -0.7],
      ],
      HostTensor.from('int64', [4], [1n, 3n, 1n, 4n]),
      [0.5, -0.6],
    ],
  ),
];
