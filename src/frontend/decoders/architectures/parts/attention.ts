import { call } from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { add, reshape, upTo } from './tensor-calls.ts';

/** The positions of all tokens, int32 (b, s): row r begins at first[r]. */
export function positionsFrom(first: Expr): Expr {
  return add(reshape(first, ['b', 1]), reshape(upTo('s'), [1, 's']));
}

/** A cache (b, keyHeads, c, headWidth) with new keys or values (b, s, keyHeads, headWidth) from first[r] on. */
export function appended(cache: Expr, added: Expr, first: Expr): Expr {
  const turned = call('transpose', [added], { perm: [0, 2, 1, 3] });
  return call('tensor_scatter', [cache, turned, first], { axis: 2 });
}

interface Attention {
  /** (b, s, heads, headWidth). */
  readonly query: Expr;
  /** (b, keyHeads, c, headWidth). */
  readonly key: Expr;
  readonly value: Expr;
  /** The position of each row's first token, int32 (b). */
  readonly first: Expr;
  /** The key at position j counts for the query at position i where j <= i and i - j < window; 0: all up to i. */
  readonly window: number;
  readonly scale: number;
  readonly softcap: number;
  /** Elements of the result for each token: heads * headWidth. */
  readonly width: number;
}

/** Grouped attention over caches (J. Ainslie et al. 2023): (b, s, width). */
export function attention({ query, key, value, first, width, ...attributes }: Attention): Expr {
  const queries = call('transpose', [query], { perm: [0, 2, 1, 3] });
  const mixed = call('cached_attention', [queries, key, value, first], { ...attributes });
  return reshape(call('transpose', [mixed], { perm: [0, 2, 1, 3] }), ['b', 's', width]);
}
