import { BlockTable, type Step } from '../ir/walk/block.ts';
import { letIn } from '../ir/build.ts';
import type { Expr, FunctionExpr, VarExpr } from '../ir/expr.ts';
import { runTask, sub, type Task } from '../ir/task.ts';
import { mapFunctions } from '../ir/walk/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import type { Pass } from './pass.ts';

/**
 * Puts each call whose result is that of its function at the end of the block it is in, of a function
 * or closure and of branches and clauses that are at such an end. There the machine runs it in the
 * frame of the function, so that functions that call themselves or each other are loops in constant
 * memory. A value under another name gives way to the value, and a tuple of all fields of a tuple to
 * that. In A-normal form.
 */
export const tailCalls: Pass = {
  name: 'tail-calls',
  run(module, { types }) {
    types.declare(module);
    return mapFunctions(module, (fn) => {
      const body = runTask(new TailPosition(fn, types).block(fn.body, true));
      return body === fn.body ? fn : { ...fn, body };
    });
  },
};

class TailPosition {
  readonly #blocks: BlockTable;
  readonly #types: TypeInference;

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#blocks = new BlockTable(fn.body);
    this.#types = types;
  }

  /** The block that begins with an expression; `returns`: whether its value is that of a function. */
  *block(root: Expr, returns: boolean): Task<Expr> {
    const { steps: before, result: resultBefore, lastUse } = this.#blocks.of(root);
    const steps: Step[] = [];
    let isChanged = false;
    for (const { variable, value } of before) {
      const inner = yield* sub(this.#value(value, false));
      isChanged ||= inner !== value;
      steps.push({ variable, value: inner });
    }
    let result = resultBefore;
    if (returns) {
      for (let next = this.#shorter(steps, result, lastUse); next !== undefined; ) {
        result = next;
        isChanged = true;
        next = this.#shorter(steps, result, lastUse);
      }
    }
    const last = yield* sub(this.#value(result, returns));
    if (!isChanged && last === resultBefore) return root;
    return steps.reduceRight((body, { variable, value }) => letIn(variable, value, body), last);
  }

  /** The end of a block without the steps that are taken away; undefined where it stays. */
  #shorter(steps: Step[], result: Expr, lastUse: ReadonlyMap<VarExpr, number>): Expr | undefined {
    const last = steps.at(-1);
    if (result.kind === 'var' && last?.variable === result) {
      steps.pop();
      return last.value;
    }
    const whole = result.kind === 'tuple' ? tupleOf(result.fields, steps) : undefined;
    const type = whole && this.#types.of(whole);
    if (whole === undefined || type?.kind !== 'tuple' || result.kind !== 'tuple') return undefined;
    const count = result.fields.length;
    const kept = steps.length - count;
    const isOnlyUse = steps
      .slice(kept)
      .every(({ variable }) => (lastUse.get(variable) ?? -1) >= steps.length);
    if (type.fields.length !== count || !isOnlyUse) return undefined;
    steps.length = kept;
    return whole;
  }

  /** A value with its inner blocks; those of closures return. */
  *#value(value: Expr, returns: boolean): Task<Expr> {
    switch (value.kind) {
      case 'if': {
        const thenBranch = yield* sub(this.block(value.thenBranch, returns));
        const elseBranch = yield* sub(this.block(value.elseBranch, returns));
        const isSame = thenBranch === value.thenBranch && elseBranch === value.elseBranch;
        return isSame ? value : { ...value, thenBranch, elseBranch };
      }
      case 'match': {
        const clauses = [];
        for (const { pattern, body } of value.clauses) {
          clauses.push({ pattern, body: yield* sub(this.block(body, returns)) });
        }
        const isSame = clauses.every(({ body }, i) => body === value.clauses[i]?.body);
        return isSame ? value : { ...value, clauses };
      }
      case 'function': {
        if (value.attributes.primitive !== undefined) return value;
        const body = yield* sub(this.block(value.body, true));
        return body === value.body ? value : { ...value, body };
      }
      case 'call': {
        const callee =
          value.callee.kind === 'function'
            ? yield* sub(this.#value(value.callee, false))
            : value.callee;
        return callee === value.callee ? value : { ...value, callee };
      }
      default:
        return value;
    }
  }
}

/** The tuple of which the last steps read the fields in order, when these are all that is given. */
function tupleOf(fields: readonly Expr[], steps: readonly Step[]): VarExpr | undefined {
  const reads = steps.slice(steps.length - fields.length);
  if (fields.length === 0 || reads.length < fields.length) return undefined;
  let whole: VarExpr | undefined;
  for (const [index, { variable, value }] of reads.entries()) {
    const isField = value.kind === 'projection' && value.index === index;
    if (!isField || value.tuple.kind !== 'var' || fields[index] !== variable) return undefined;
    if (whole !== undefined && whole !== value.tuple) return undefined;
    whole = value.tuple;
  }
  return whole;
}
