import { LinkedInstruction, type LinkedFunction, LinkedOp } from '../link/linked-code.ts';

/** Somebody who waits for a breakpoint. */
interface Waiting {
  visitsLeft: number;
}

interface Breakpoint {
  readonly original: LinkedInstruction;
  readonly waiting: Set<Waiting>;
}

/** Instructions of a machine at which calls stop, each as long as somebody waits for it. */
export class Breakpoints {
  readonly #places = new Map<LinkedFunction, Map<number, Breakpoint>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  at(callee: LinkedFunction, index: number): Breakpoint | undefined {
    return this.#places.get(callee)?.get(index);
  }

  add(callee: LinkedFunction, index: number, waiting: Waiting): void {
    const known = this.at(callee, index);
    if (known !== undefined) {
      known.waiting.add(waiting);
      return;
    }
    const original = callee.code[index] as LinkedInstruction;
    const places = this.#places.get(callee) ?? new Map<number, Breakpoint>();
    this.#places.set(callee, places.set(index, { original, waiting: new Set([waiting]) }));
    this.#count++;
    const { destination, target, args, packed, callee: called, cost, moved, codeIndex } = original;
    const fields = { destination, target, args, packed, callee: called, cost, moved, codeIndex };
    replace(callee, index, new LinkedInstruction({ ...fields, op: LinkedOp.breakpoint }));
  }

  /** The last one who waits takes the breakpoint away. */
  drop(callee: LinkedFunction, index: number, waiting: Waiting): void {
    const breakpoint = this.at(callee, index);
    if (breakpoint?.waiting.delete(waiting) !== true || breakpoint.waiting.size > 0) return;
    this.#places.get(callee)?.delete(index);
    this.#count--;
    replace(callee, index, breakpoint.original);
  }

  /** Counts a visit. Returns true if somebody waited for it, who then waits no more. */
  visit(callee: LinkedFunction, index: number): boolean {
    let isHit = false;
    for (const waiting of this.at(callee, index)?.waiting ?? []) {
      if (--waiting.visitsLeft > 0) continue;
      this.drop(callee, index, waiting);
      isHit = true;
    }
    return isHit;
  }

  /** Does work while the instruction is as it was. */
  without<T>(callee: LinkedFunction, index: number, work: () => T): T {
    const original = this.at(callee, index)?.original;
    const broken = callee.code[index];
    if (original === undefined || broken === undefined) return work();
    replace(callee, index, original);
    try {
      return work();
    } finally {
      // The work may have taken the last one who waited away.
      if (this.at(callee, index) !== undefined) replace(callee, index, broken);
    }
  }
}

/** Linked code is private to its machine, and nothing runs while it changes. */
function replace({ code }: LinkedFunction, index: number, instruction: LinkedInstruction): void {
  (code as LinkedInstruction[])[index] = instruction;
}
