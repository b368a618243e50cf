import type { Breakpoint, SetBreakpoint } from '../../worker/protocol/debug-order.ts';

/** The breakpoints that a person has set. */
export class BreakpointChoice {
  #all: readonly Breakpoint[] = [];
  /** Breakpoints of the current run, with the instructions that it found for them. */
  #set: readonly SetBreakpoint[] = [];

  get all(): readonly Breakpoint[] {
    return this.#all;
  }

  /** Adds one, or takes the same one away. */
  toggle(breakpoint: Breakpoint): void {
    const text = JSON.stringify(breakpoint);
    const others = this.#all.filter((each) => JSON.stringify(each) !== text);
    this.#all = others.length < this.#all.length ? others : [...this.#all, breakpoint];
    this.#set = this.#set.filter((each) => this.has(each.breakpoint));
  }

  has(breakpoint: Breakpoint): boolean {
    const text = JSON.stringify(breakpoint);
    return this.#all.some((each) => JSON.stringify(each) === text);
  }

  /** Stops at outputs above a limit, in place of any other limit; undefined: at none. */
  limit(outputAbove: number | undefined): void {
    const others = this.#all.filter((each) => !('outputAbove' in each));
    this.#all = outputAbove === undefined ? others : [...others, { outputAbove }];
  }

  /** Drops names that no run has found yet. */
  dropUnknown(): void {
    const known = new Set(this.#set.map(({ breakpoint }) => JSON.stringify(breakpoint)));
    this.#all = this.#all.filter((each) => !('node' in each) || known.has(JSON.stringify(each)));
  }

  /** Takes what those of a run stand for. */
  resolved(set: readonly SetBreakpoint[]): void {
    this.#set = set;
  }

  /** Instructions of a function that have one: also those that a run has found for a name. */
  linesOf(functionName: string): ReadonlySet<number> {
    const chosen = this.#all.flatMap((each) => ('at' in each ? [each.at] : []));
    const found = this.#set.flatMap(({ places }) => places);
    const own = [...chosen, ...found].filter((place) => place.function === functionName);
    return new Set(own.map(({ instruction }) => instruction));
  }
}

export function describeBreakpoint(breakpoint: Breakpoint): string {
  if ('at' in breakpoint) return `${breakpoint.at.function} ${breakpoint.at.instruction}`;
  if ('node' in breakpoint) return breakpoint.node;
  if ('outputAbove' in breakpoint) return `output beyond ±${breakpoint.outputAbove}`;
  return breakpoint.output === 'nan' ? 'output holds a NaN' : 'output holds an infinity';
}
