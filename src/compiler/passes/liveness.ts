import { type Block, BlockTable, destinationOf, innerBlocks, type Step } from '../ir/walk/block.ts';
import { call, letIn, variableOf } from '../ir/build.ts';
import type { Expr, FunctionExpr, IfExpr, MatchExpr, VarExpr } from '../ir/expr.ts';
import { operatorName } from '../ir/operators/operator-name.ts';
import { KILL } from '../ir/operators/machine-operators.ts';
import { runTask, sub, type Task } from '../ir/task.ts';
import { UNIT_TYPE } from '../ir/type.ts';
import { mapFunctions, postOrder, variablesOf } from '../ir/walk/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import type { Pass } from './pass.ts';

/**
 * Drops each value after its last use on every way: `let %_ = kill(%x)`. What only one branch reads
 * is dropped at the begin of the other. What a function returns right away, or passes to the call
 * that it ends with, needs no kill, for the registers of a function go with it; nor do integers and shapes. In
 * A-normal form, after `plan-memory`; a function with kills is left as it is.
 */
export const liveness: Pass = {
  name: 'liveness',
  run: (module, { types }) => mapFunctions(module, (fn) => withKills(fn, types)),
};

function withKills(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  if (postOrder(fn.body).some((expr) => operatorName(expr) === KILL)) return fn;
  const body = runTask(new KillInserter(fn, types).block(fn.body, fn.params, true));
  return body === fn.body ? fn : { ...fn, body };
}

class KillInserter {
  readonly #blocks: BlockTable;
  readonly #types: TypeInference;

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#blocks = new BlockTable(fn.body);
    this.#types = types;
  }

  /**
   * The block that begins with an expression, with kills. `dying` are variables from outside that
   * nothing reads after it; `returns`: whether its value is that of the function.
   */
  *block(root: Expr, dying: readonly VarExpr[], returns: boolean): Task<Expr> {
    const block = this.#blocks.of(root);
    const { steps, result, lastUse } = block;
    const deaths = deathsIn(block, dying);
    const deathsAfter = (step: number): readonly VarExpr[] =>
      (deaths.get(step) ?? []).filter((variable) => this.#isHeld(variable));
    const isLeaf = steps.length === 0 && returns && !isBranching(result);
    const chain: Step[] = isLeaf ? [] : kills(deathsAfter(-1));
    for (const [index, { variable, value }] of steps.entries()) {
      const dead = deathsAfter(index);
      if (isBranching(value)) {
        const others = dead.filter((other) => other !== variable);
        chain.push({ variable, value: yield* sub(this.#branches(value, others, false)) });
        if (!lastUse.has(variable)) chain.push(...kills(dead.filter((one) => one === variable)));
        continue;
      }
      const isPlain = innerBlocks(value).length === 0;
      chain.push({ variable, value: isPlain ? value : yield* sub(this.#value(value)) });
      // The tensor that a kernel wrote goes on under the name of the kernel's result.
      const written = destinationOf(value);
      chain.push(...kills(dead.filter((other) => other !== written)));
    }
    const dead = deathsAfter(steps.length);
    const last = isBranching(result)
      ? yield* sub(this.#branches(result, dead, returns))
      : yield* sub(this.#value(result));
    const written = destinationOf(result);
    const rest = dead.filter((other) => other !== written);
    if (returns || isBranching(result) || rest.length === 0) return this.#chain(root, chain, last);
    const variable = variableOf('result', this.#types.of(result));
    return this.#chain(root, [...chain, { variable, value: last }, ...kills(rest)], variable);
  }

  /** The same expression where nothing was put in. */
  #chain(root: Expr, steps: readonly Step[], result: Expr): Expr {
    const { steps: before, result: resultBefore } = this.#blocks.of(root);
    const isSame =
      result === resultBefore &&
      steps.length === before.length &&
      steps.every(({ value }, i) => value === before[i]?.value);
    if (isSame) return root;
    return steps.reduceRight((body, { variable, value }) => letIn(variable, value, body), result);
  }

  *#branches(expr: IfExpr | MatchExpr, dying: readonly VarExpr[], returns: boolean): Task<Expr> {
    if (expr.kind === 'if') {
      const thenBranch = yield* sub(this.block(expr.thenBranch, dying, returns));
      const elseBranch = yield* sub(this.block(expr.elseBranch, dying, returns));
      const isSame = thenBranch === expr.thenBranch && elseBranch === expr.elseBranch;
      return isSame ? expr : { ...expr, thenBranch, elseBranch };
    }
    const clauses = [];
    for (const { pattern, body } of expr.clauses) {
      const { lastUse } = this.#blocks.of(body);
      const own = variablesOf(pattern).filter((variable) => lastUse.has(variable));
      clauses.push({ pattern, body: yield* sub(this.block(body, [...dying, ...own], returns)) });
    }
    const isSame = clauses.every(({ body }, i) => body === expr.clauses[i]?.body);
    return isSame ? expr : { ...expr, clauses };
  }

  /** A value with kills in the closure that it is or calls. */
  *#value(value: Expr): Task<Expr> {
    const fn = value.kind === 'call' ? value.callee : value;
    if (fn.kind !== 'function' || fn.attributes.primitive !== undefined) return value;
    const dying = [...fn.params, ...this.#blocks.captured(fn)];
    const body = yield* sub(this.block(fn.body, dying, true));
    if (body === fn.body) return value;
    const closure = { ...fn, body };
    return value.kind === 'call' ? { ...value, callee: closure } : closure;
  }

  /** Returns true if the register of a variable holds a reference, which has to be dropped. */
  #isHeld(variable: VarExpr): boolean {
    const { type } = variable;
    if (this.#blocks.primitive(variable) !== undefined) return false;
    if (type?.kind === 'tuple') return type.fields.length > 0;
    if (type?.kind !== 'scalar') return true;
    return !['int', 'float', 'shape'].includes(type.scalar);
  }
}

function kills(variables: readonly VarExpr[]): Step[] {
  return variables.map((variable) => ({
    variable: variableOf('_', UNIT_TYPE),
    value: call(KILL, [variable]),
  }));
}

function isBranching(expr: Expr): expr is IfExpr | MatchExpr {
  return expr.kind === 'if' || expr.kind === 'match';
}

/** After which step of a block a variable is dead; -1 before the first. */
function deathsIn(block: Block, dying: readonly VarExpr[]): ReadonlyMap<number, VarExpr[]> {
  const deaths = new Map<number, VarExpr[]>();
  const die = (variable: VarExpr, step: number): void => {
    const last = block.lastUse.get(variable) ?? step;
    const others = deaths.get(last);
    if (others === undefined) deaths.set(last, [variable]);
    else others.push(variable);
  };
  for (const variable of dying) die(variable, -1);
  for (const [index, { variable }] of block.steps.entries()) die(variable, index);
  return deaths;
}
