import { CONVOLUTION } from './convolution.ts';
import { ELEMENTWISE } from './elementwise.ts';
import { type LiteCaseTable, LiteDraw } from './lite-case.ts';
import { liteModel, type LiteModelCase } from './lite-graph.ts';
import { INDEXING } from './indexing.ts';
import { MOVEMENT } from './movement.ts';
import { REDUCTION } from './reduction.ts';

/** Cases by builtin operator. */
export const LITE_CASES: LiteCaseTable = {
  ...ELEMENTWISE,
  ...CONVOLUTION,
  ...MOVEMENT,
  ...INDEXING,
  ...REDUCTION,
};

/** A case of one operator for a kind of elements. */
export function operatorCase(op: string, kind: string, seed: number): LiteModelCase {
  const cases = LITE_CASES[op];
  const known = cases?.kinds.find((one) => one === kind);
  if (cases === undefined || known === undefined) throw new Error(`no cases of ${op} ${kind}`);
  const node = { op, ...cases.draw(new LiteDraw(seed, `${op} ${kind}`), known) };
  return liteModel([{ node, sources: [] }]);
}
