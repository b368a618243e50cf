import type {
  VariantChoices,
  VariantKind,
  VariantPlace,
} from '../../../core/contracts/launch-plan.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import type { AttentionSizes } from '../../../ops/attention/attention-variant.ts';
import { attentionVariants } from '../../../ops/attention/attention-variants.ts';
import type { Conv } from '../../../ops/convolution/conv2d-lowering.ts';
import {
  convolutionName,
  convolutionVariants,
  windowName,
  windowVariants,
} from '../../../ops/convolution/convolution-variants.ts';
import type { PlaneWindow } from '../../../ops/convolution/window-tile.ts';
import type { MatmulProblem } from '../../../ops/linear/matmul-problem.ts';
import type { MatmulVariant } from '../../../ops/linear/matmul-variant.ts';
import { matmulVariants } from '../../../ops/linear/matmul-variants.ts';
import type { Rows } from '../../../ops/normalization/row-access.ts';
import { rowVariants, reductionVariants } from '../../../ops/reduction/reduction-variants.ts';
import type { ReduceChoice, ReduceProblem } from '../../../ops/reduction/reduce-lowering.ts';

/** Names of variants by place; a Map will do. */
export interface ChosenNames {
  /** One of `names`; undefined leaves the planner's first choice. */
  get(place: string, names: readonly string[]): string | undefined;
}

export class NamedChoices implements VariantChoices {
  readonly #chosen: ChosenNames;

  constructor(chosen: ChosenNames) {
    this.#chosen = chosen;
  }

  pick<Variant>(kind: VariantKind, place: VariantPlace<Variant>): Variant | undefined {
    const { name, variants } = listVariants(kind, place);
    const chosen = this.#chosen.get(name, [...variants.keys()]);
    // The lowering of this kind asks, and has said what its variants are.
    return chosen === undefined ? undefined : (variants.get(chosen) as Variant | undefined);
  }
}

interface VariantList {
  readonly name: string;
  readonly variants: ReadonlyMap<string, unknown>;
}

function listVariants(kind: VariantKind, place: VariantPlace<unknown>): VariantList {
  const { caps } = place;
  switch (kind) {
    case 'matmul': {
      const problem = place.problem as MatmulProblem;
      const { m, n, k, batch } = problem;
      return {
        name: `matmul ${m}x${n}x${k}, ${elementCount(batch)}`,
        variants: matmulVariants(problem, caps, place.first as MatmulVariant),
      };
    }
    case 'reduction': {
      const problem = place.problem as ReduceProblem;
      return {
        name: `reduction ${problem.count} of ${problem.divisor}`,
        variants: reductionVariants(problem, caps, place.first as ReduceChoice),
      };
    }
    case 'convolution': {
      const problem = place.problem as Conv;
      return { name: convolutionName(problem), variants: convolutionVariants(problem) };
    }
    case 'window': {
      const problem = place.problem as PlaneWindow;
      return { name: windowName(problem), variants: windowVariants(problem, caps) };
    }
    case 'rows': {
      const problem = place.problem as Rows;
      const { count, size, inner } = problem;
      return { name: `rows ${count} of ${size} by ${inner}`, variants: rowVariants(problem, caps) };
    }
    case 'attention': {
      const problem = place.problem as AttentionSizes;
      const { batch, rows, keys, size } = problem;
      return {
        name: `attention ${rows} to ${keys} of ${size}, ${batch}`,
        variants: attentionVariants(problem, caps),
      };
    }
    default:
      return kind satisfies never;
  }
}
