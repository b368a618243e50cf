import { call } from '../../../compiler/ir/build.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import { add, integer, number, reshape, sub, upTo } from './tensor-calls.ts';

/** The positions of all tokens, int32 (b, s): row r begins at first[r]. */
export function positionsFrom(first: Expr): Expr {
  return add(reshape(first, ['b', 1]), reshape(upTo('s'), [1, 's']));
}

/**
 * What is added to scores, (b, 1, s, c): 0 where the key at position j counts for the query at position i, which is
 * where j <= i and i - j < window, else -infinity.
 */
export function causalBias(positions: Expr, window: number | undefined): Expr {
  const queries = reshape(positions, ['b', 1, 's', 1]);
  const keys = reshape(upTo('c'), [1, 1, 1, 'c']);
  const isPast = call('less_equal', [keys, queries]);
  const near = (size: number): Expr => call('greater', [keys, sub(queries, integer(size))]);
  const isSeen = window === undefined ? isPast : call('bitwise_and', [isPast, near(window)]);
  return call('where', [isSeen, number(0), number(-Infinity)]);
}

/** A cache (b, keyHeads, c, headWidth) with new keys or values (b, s, keyHeads, headWidth) from first[r] on. */
export function appended(cache: Expr, added: Expr, first: Expr): Expr {
  const turned = call('transpose', [added], { perm: [0, 2, 1, 3] });
  return call('tensor_scatter', [cache, turned, first], { axis: 2 });
}

export interface Attention {
  /** (b, s, heads, headWidth). */
  readonly query: Expr;
  /** (b, keyHeads, c, headWidth). */
  readonly key: Expr;
  readonly value: Expr;
  /** (b, 1, s, c). */
  readonly bias: Expr;
  readonly scale: number;
  readonly softcap: number;
  /** heads * headWidth. */
  readonly width: number;
}

/** Grouped attention over caches (J. Ainslie et al. 2023): (b, s, width). */
export function attention({ query, key, value, bias, scale, softcap, width }: Attention): Expr {
  const queries = call('transpose', [query], { perm: [0, 2, 1, 3] });
  const mixed = call('scaled_dot_product_attention', [queries, key, value, bias], {
    scale,
    softcap,
  });
  return reshape(call('transpose', [mixed], { perm: [0, 2, 1, 3] }), ['b', 's', width]);
}
