import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import {
  LARGE,
  MEDIUM,
  type MatmulVariant,
  registerVariant,
  SMALL,
  tiledVariant,
} from './matmul-variant.ts';

/** Variants that a measurement may prefer, by name: the parts that the planner is least sure of. */
export function matmulVariants(
  problem: MatmulProblem,
  caps: PlannerCaps,
  first: MatmulVariant,
): ReadonlyMap<string, MatmulVariant> {
  const { m, k } = problem;
  if (first.kernel === 'vector') {
    const others = [first.slices / 2, first.slices * 2].filter(
      (slices) => slices > 1 && slices <= first.lanes && slices * 4 <= k,
    );
    return new Map(others.map((slices) => [`${slices} slices`, { ...first, slices }]));
  }
  if (first.kernel === 'tiled') {
    const shapes = [LARGE, MEDIUM, SMALL].filter(
      ({ size, vectors }) => (size / vectors / 4) ** 2 <= caps.maxComputeInvocationsPerWorkgroup,
    );
    return new Map(
      shapes.flatMap((shape) => {
        const variant = tiledVariant(problem, caps, shape);
        const whole = { ...variant, parts: 1, part: Math.ceil(k / shape.depth) * shape.depth };
        return [
          [`tile of ${shape.size}, ${variant.parts} parts`, variant],
          [`tile of ${shape.size}, whole`, whole],
        ];
      }),
    );
  }
  return new Map(
    (m === 1 ? ROW_TILES : TILES).map(([rows, vectors]) => [
      `${rows} rows of ${vectors * 4}`,
      registerVariant(problem, caps, { rows, vectors }),
    ]),
  );
}

/** Rows and vectors of four columns. */
const ROW_TILES: readonly (readonly [number, number])[] = [
  [1, 1],
  [1, 2],
  [1, 4],
];
const TILES: readonly (readonly [number, number])[] = [
  [4, 1],
  [4, 4],
  [8, 1],
  [8, 2],
  [16, 1],
  [16, 2],
];
