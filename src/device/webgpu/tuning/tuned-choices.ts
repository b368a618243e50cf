import type { LaunchPlan } from '../../../core/launch-plan.ts';
import type { TunedChoice } from '../../device.ts';
import type { MeasuredChoices } from '../kernel-planner.ts';
import { NamedChoices } from './named-choices.ts';

/** Choices by the hash of the plan that they improve. */
export class TunedChoices implements MeasuredChoices {
  readonly #byPlan = new Map<string, ReadonlyMap<string, string>>();

  constructor(entries: readonly TunedChoice[] = []) {
    for (const { plan, choices } of entries) {
      this.#byPlan.set(plan, new Map(Object.entries(choices)));
    }
  }

  for(first: LaunchPlan): NamedChoices | undefined {
    const names = this.#byPlan.get(planHash(first));
    return names && new NamedChoices(names);
  }

  /** Without choices the first one is the best known again. */
  set(first: LaunchPlan, choices: ReadonlyMap<string, string>): void {
    const hash = planHash(first);
    if (choices.size === 0) this.#byPlan.delete(hash);
    else this.#byPlan.set(hash, choices);
  }

  entries(): readonly TunedChoice[] {
    return [...this.#byPlan].map(([plan, choices]) => ({
      plan,
      choices: Object.fromEntries(choices),
    }));
  }
}

/** Two 32-bit FNV-1a hashes of all that a plan consists of: code, sizes, grid. */
export function planHash({ launches }: LaunchPlan): string {
  const text = launches
    .map(({ code, params, workgroups }) => [code, params.join(), workgroups.join()].join('\n'))
    .join('\n');
  return fnv(text, 0x811c9dc5) + fnv(text, 0x01000193);
}

function fnv(text: string, start: number): string {
  let hash = start;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
