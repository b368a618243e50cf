import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import {
  PIECE_SIZE,
  type ReduceChoice,
  type ReduceProblem,
  wholePieces,
} from './reduce-lowering.ts';
import type { RowChoice, Rows } from '../normalization/row-access.ts';

/** Variants that a measurement may prefer, by name: pieces of an output, and invocations for each. */
export function reductionVariants(
  { divisor, reduced }: ReduceProblem,
  caps: PlannerCaps,
  first: ReduceChoice,
): ReadonlyMap<string, ReduceChoice> {
  const { lanes, pieces, unit } = first;
  const run = reduced.at(-1)?.size ?? 1;
  const steps = lanes > 1 ? divisor : unit === 'elements' ? run / 4 : run;
  const counts = [1, Math.ceil(pieces / 4), pieces, pieces * 4].filter(
    (count) => count === 1 || count * PIECE_SIZE * lanes <= steps,
  );
  const most = Math.min(256, caps.maxComputeInvocationsPerWorkgroup);
  const groups = lanes === 1 ? [1] : [64, 128, 256].filter((count) => count <= most);
  return new Map(
    groups.flatMap((lanes) =>
      counts.map((count): [string, ReduceChoice] => [
        `${count} pieces by ${lanes}`,
        { lanes, pieces: wholePieces(steps, count), unit },
      ]),
    ),
  );
}

/** Variants that a measurement may prefer for softmax and norms, by name: invocations of a row, and of a workgroup. */
export function rowVariants({ size }: Rows, caps: PlannerCaps): ReadonlyMap<string, RowChoice> {
  const most = Math.min(256, caps.maxComputeInvocationsPerWorkgroup);
  const shared = [32, 64, 128, 256].filter((lanes) => lanes <= most && lanes * 2 <= size);
  const choices: RowChoice[] =
    caps.adapterClass === 'software'
      ? [4, 16, 64].map((groupSize) => ({ lanes: 1, groupSize }))
      : [
          { lanes: 1, groupSize: 64 },
          ...shared.map((lanes) => ({ lanes, groupSize: Math.max(64, lanes) })),
        ];
  return new Map(
    choices.map((choice) => [`${choice.lanes} for a row, ${choice.groupSize} a group`, choice]),
  );
}
