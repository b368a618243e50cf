import type { PlannerCaps } from '../../core/launch-plan.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import type { LoadForm, MatmulTileOptions } from './register-tile.ts';

/** Lanes 0 to 3 of a quad are invocations 4i to 4i+3, as on SwiftShader. */
export function hasLinearQuads(caps: PlannerCaps): boolean {
  return caps.subgroups && caps.subgroupMinSize === 4 && caps.adapterClass === 'software';
}

/** The register tile for a product on a software adapter: always some 64 sums where m allows it. */
export function chooseRegisterTile(problem: MatmulProblem, caps: PlannerCaps): MatmulTileOptions {
  const { m, n, k } = problem;
  const rows = m <= 1 ? 1 : m <= 4 ? 4 : m <= 8 ? 8 : 16;
  const quads = rows > 1 && hasLinearQuads(caps);
  const vectors = n <= 16 ? 1 : Math.min(4, 16 / rows);
  const a = loadForm(problem, 'a');
  return {
    rows,
    vectors,
    a: a === 'across' && !(quads && rows === 16) ? 'single' : a,
    b: loadForm(problem, 'b'),
    quads,
    tail: k % 4 !== 0,
  };
}

/** How four elements of A or B can be had at once: where they are one aligned group. */
export function loadForm({ m, n, k, a, b }: MatmulProblem, matrix: 'a' | 'b'): LoadForm {
  const { batch, row, column } = matrix === 'a' ? a : b;
  const [depth, across] = matrix === 'a' ? [column, row] : [row, column];
  const size = matrix === 'a' ? m : n;
  if (depth === 1 && isWhole([k, across, ...batch])) return 'depth';
  return across === 1 && isWhole([size, depth, ...batch]) ? 'across' : 'single';
}

function isWhole(counts: readonly number[]): boolean {
  return counts.every((count) => count % 4 === 0);
}
