import type { LaunchPlan, VariantChoices } from '../../../core/contracts/launch-plan.ts';
import type { TunedChoice } from '../../device.ts';
import type { MeasuredChoices } from '../kernels/kernel-planner.ts';
import { NamedChoices } from './named-choices.ts';

/** Choices by the hash of the plan that they improve. */
export class TunedChoices implements MeasuredChoices {
  readonly #byPlan: Map<string, TunedChoice>;
  /** The choices that were not given: others may have stored something else since. */
  readonly #own = new Set<string>();

  constructor(given: readonly TunedChoice[] = []) {
    this.#byPlan = new Map(given.map((choice) => [choice.plan, choice]));
  }

  improve(first: LaunchPlan, planWith: (choices: VariantChoices) => LaunchPlan): LaunchPlan {
    const { chosen, choices } = this.find(planHash(first)) ?? {};
    if (chosen === undefined || choices === undefined) return first;
    const plan = planWith(new NamedChoices(new Map(Object.entries(choices))));
    return planHash(plan) === chosen ? plan : first;
  }

  find(plan: string): TunedChoice | undefined {
    return this.#byPlan.get(plan);
  }

  set(choice: TunedChoice): void {
    this.#byPlan.set(choice.plan, choice);
    this.#own.add(choice.plan);
  }

  entries(): readonly TunedChoice[] {
    return [...this.#own].flatMap((plan) => this.find(plan) ?? []);
  }
}

/** Two 32-bit FNV-1a hashes of all that a plan consists of: code, sizes, grid. */
export function planHash(plan: LaunchPlan): string {
  const text = planText(plan);
  return fnv(text, 0x811c9dc5) + fnv(text, 0x01000193);
}

/** Equal for plans that do the same. */
export function planText({ launches }: LaunchPlan): string {
  return launches
    .map(({ code, params, workgroups }) => [code, params.join(), workgroups.join()].join('\n'))
    .join('\n');
}

function fnv(text: string, start: number): string {
  let hash = start;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
