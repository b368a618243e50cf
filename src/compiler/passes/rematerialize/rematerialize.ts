import { isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import { UsageError } from '../../../core/errors.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { BlockTable } from '../../ir/walk/block.ts';
import { letIn } from '../../ir/build.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import { freeVariables } from '../../ir/walk/free-variables.ts';
import { mapFunctions, postOrder } from '../../ir/walk/visit.ts';
import { mentionedIn } from '../dims/dim-names.ts';
import { callWork, sizesOf } from '../fuse/kernel-work.ts';
import type { Pass } from '../pass.ts';
import { BlockPlans, valuesOf } from '../plan-memory/block-plans.ts';
import { overwrittenParameter } from '../plan-memory/overwrites.ts';
import { reportPlan } from '../plan-memory/report-plan.ts';
import { TensorAliases } from '../plan-memory/tensor-aliases.ts';
import { type BlockNode, type Entry, inOrder, peakOf } from './block-nodes.ts';
import { chooseRecomputed } from './choose-recomputed.ts';

/**
 * An order of the steps in which a kernel comes as soon as its operands are there, if it frees more than it takes: the
 * gradient of a weight, which two large values give, before the next layer's. All else stays in its order.
 */
function orderForMemory(nodes: readonly BlockNode[]): readonly Entry[] {
  return new MemoryOrder(nodes).run();
}

class MemoryOrder {
  readonly #nodes: readonly BlockNode[];
  readonly #readers: readonly (readonly number[])[];
  /** How many operands of a step are not there yet. */
  readonly #missing: number[];
  /** How many steps have yet to read the memory of a step. */
  readonly #waiting: number[];
  readonly #ready = new Set<number>();
  readonly #done = new Set<number>();
  readonly #entries: Entry[] = [];

  constructor(nodes: readonly BlockNode[]) {
    this.#nodes = nodes;
    const readers: number[][] = nodes.map(() => []);
    this.#missing = nodes.map(({ reads }) => new Set(reads).size);
    this.#waiting = nodes.map(() => 0);
    for (const [index, { reads, holds }] of nodes.entries()) {
      for (const read of new Set(reads)) readers[read]?.push(index);
      for (const held of new Set(holds)) this.#waiting[held] = (this.#waiting[held] ?? 0) + 1;
    }
    this.#readers = readers;
  }

  run(): readonly Entry[] {
    for (const [index, { isMovable }] of this.#nodes.entries()) {
      if (isMovable && this.#missing[index] === 0) this.#ready.add(index);
    }
    for (const index of this.#nodes.keys()) {
      for (let next = this.#freeing(); next !== undefined; next = this.#freeing()) this.#emit(next);
      if (!this.#done.has(index)) this.#emit(index);
    }
    return this.#entries;
  }

  /** The step that frees most, of those that free anything. */
  #freeing(): number | undefined {
    let best: number | undefined;
    let most = 0;
    for (const index of this.#ready) {
      const freed = this.#freedBy(index);
      if (freed > most) [best, most] = [index, freed];
    }
    return best;
  }

  #freedBy(index: number): number {
    const node = this.#nodes[index];
    if (node === undefined) return 0;
    // A result is held in the end whenever it is computed.
    let freed = node.escapes ? 0 : -node.byteLength;
    for (const held of new Set(node.holds)) {
      const operand = this.#nodes[held];
      if (this.#waiting[held] === 1 && operand?.escapes === false) freed += operand.byteLength;
    }
    return freed;
  }

  #emit(index: number): void {
    this.#done.add(index);
    this.#ready.delete(index);
    this.#entries.push({ node: index, isAgain: false });
    for (const held of new Set(this.#nodes[index]?.holds)) {
      this.#waiting[held] = (this.#waiting[held] ?? 0) - 1;
    }
    for (const reader of this.#readers[index] ?? []) {
      this.#missing[reader] = (this.#missing[reader] ?? 0) - 1;
      const isReady = this.#missing[reader] === 0 && !this.#done.has(reader);
      if (isReady && this.#nodes[reader]?.isMovable === true) this.#ready.add(reader);
    }
  }
}

/**
 * Brings the peak of the memory that is planned for each function below a budget in bytes: by another order of its
 * kernels, and by computing values again that would be kept for long, such as those that a backward pass reads. In
 * A-normal form, before `plan-memory`. A function that is within the budget stays as it is.
 *
 * Throws UsageError for a budget that cannot be met, with the least that was found.
 */
export function rematerialize({ memoryBudget: budget = Infinity }): Pass {
  return {
    name: 'rematerialize',
    run(module, { types, onWarning }) {
      types.declare(module);
      return mapFunctions(module, (fn, name) => {
        const found = new Rematerialization(types, budget).run(fn);
        const { unsizedTensors } = reportPlan(name, found.fn.body, found.plans);
        if (unsizedTensors > 0) {
          onWarning?.(
            `memoryBudget: @${name}: ${unsizedTensors} tensor(s) of sizes without numbers or bounds do not count.`,
          );
        }
        if (found.byteLength <= budget) return found.fn;
        throw new UsageError({
          where: `memoryBudget: @${name}`,
          got: `${budget} bytes`,
          expected: `at least ${found.byteLength} bytes, the least that was found for this function`,
          remedy: 'Raise the budget, or make the inputs smaller, such as the batch.',
        });
      });
    },
  };
}

/** Each round computes again what the one before still kept at its peak. */
const MAX_ROUNDS = 8;

/** Plans may hold more than is alive at once, so that less is aimed at. */
const MAX_ATTEMPTS = 4;

interface Found extends PlannedFunction {
  /** Bytes of the planned peak. */
  readonly byteLength: number;
}

class Rematerialization {
  readonly #types: TypeInference;
  readonly #budget: number;

  constructor(types: TypeInference, budget: number) {
    this.#types = types;
    this.#budget = budget;
  }

  run(fn: FunctionExpr): Found {
    const given = plan(fn, this.#types);
    if (given.byteLength <= this.#budget) return given;
    const ordered = this.#ordered(given);
    if (ordered.byteLength <= this.#budget) return ordered;
    let target = this.#budget;
    for (let i = 0; i < MAX_ATTEMPTS; i++) {
      const found = this.#within(ordered, target);
      if (found.byteLength <= this.#budget) return found;
      target = Math.floor((target * this.#budget) / found.byteLength);
    }
    // The least of all, whatever the budget, so that the one that an error names can be met.
    return [given, ordered, this.#within(ordered, 0)].reduce((least, found) =>
      found.byteLength < least.byteLength ? found : least,
    );
  }

  #ordered(planned: Found): Found {
    const nodes = analyseBlock(planned, this.#types);
    const [given, entries] = [inOrder(nodes), orderForMemory(nodes)];
    const isBetter = peakOf(nodes, entries).byteLength < peakOf(nodes, given).byteLength;
    return isBetter ? plan(rebuilt(planned.fn, nodes, entries), this.#types) : planned;
  }

  /** The function with no more alive at once than so many bytes, or with what comes next to that. */
  #within(planned: Found, byteLength: number): Found {
    let current = planned;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const nodes = analyseBlock(current, this.#types);
      const before = peakOf(nodes, inOrder(nodes));
      if (before.byteLength <= byteLength) break;
      const { entries, peak } = chooseRecomputed(nodes, before, byteLength);
      if (peak.byteLength >= before.byteLength) break;
      current = plan(rebuilt(current.fn, nodes, entries), this.#types);
    }
    return current;
  }
}

function plan(fn: FunctionExpr, types: TypeInference): Found {
  const blocks = new BlockTable(fn.body);
  const plans = new BlockPlans(fn, blocks, types);
  return { fn, blocks, plans, byteLength: plans.of(fn.body).peaks.planned };
}

/** The function with its steps in another order, some of them computed again. */
function rebuilt(
  fn: FunctionExpr,
  nodes: readonly BlockNode[],
  entries: readonly Entry[],
): FunctionExpr {
  const current = new Map<Expr, VarExpr>();
  const steps: { readonly variable: VarExpr; readonly value: Expr }[] = [];
  for (const { node, isAgain } of entries) {
    const { step, value } = nodes[node] ?? {};
    if (step === undefined || value === undefined) continue;
    const own = withCurrent(value, current);
    if (!isAgain) steps.push({ variable: step.variable, value: own });
    else {
      const variable = { ...step.variable };
      steps.push({ variable, value: own === value ? { ...value } : own });
      current.set(step.variable, variable);
    }
  }
  const result = withCurrent(nodes.at(-1)?.value ?? fn.body, current);
  const body = steps.reduceRight<Expr>(
    (rest, { variable, value }) => letIn(variable, value, rest),
    result,
  );
  return { ...fn, body };
}

/** A call of a kernel with the newest values of its operands. */
function withCurrent(value: Expr, current: ReadonlyMap<Expr, VarExpr>): Expr {
  if (value.kind !== 'call' || !value.args.some((arg) => current.has(arg))) return value;
  return { ...value, args: value.args.map((arg) => current.get(arg) ?? arg) };
}

/** A function whose steps are looked at, with the plan of its memory. */
interface PlannedFunction {
  readonly fn: FunctionExpr;
  readonly blocks: BlockTable;
  readonly plans: BlockPlans;
}

/** The steps of the body of a function, and its result. */
function analyseBlock(
  { fn, blocks, plans }: PlannedFunction,
  types: TypeInference,
): readonly BlockNode[] {
  const plan = plans.of(fn.body);
  const { steps } = plan.block;
  const aliases = new TensorAliases(blocks);
  const indices = new Map<Expr, number>(steps.map(({ variable }, i) => [variable, i]));
  const kernels = new Map(plan.kernels.map((kernel) => [kernel.step, kernel]));
  const symbols = new Set(fn.params.flatMap(mentionedIn));
  const work = new WorkOfKernels(fn, types);
  const values = valuesOf(plan.block);
  const reads = values.map((value) => freeVariables(value));
  const inKernels = readByKernelsOnly(reads, (step) => kernels.has(step));
  return values.map((value, i) => {
    const kernel = kernels.get(i);
    const variable = steps[i]?.variable;
    const indexOf = (read: VarExpr): number[] => {
      const index = indices.get(read);
      return index === undefined ? [] : [index];
    };
    const isMovable = kernel !== undefined && isSized(kernel.primitive, symbols);
    const isInside = variable !== undefined && !aliases.escapes(variable);
    const isRepeatable =
      isMovable &&
      isInside &&
      inKernels(variable) &&
      aliases.namesOf(variable).length === 1 &&
      overwrittenParameter(kernel.primitive, types.operators) === undefined;
    return {
      step: steps[i],
      value,
      reads: (reads[i] ?? []).flatMap(indexOf),
      holds: (reads[i] ?? []).map((read) => aliases.rootOf(read)).flatMap(indexOf),
      byteLength: kernel?.interval.size ?? 0,
      innerBytes: plan.innerBytes[i] ?? 0,
      escapes: kernel !== undefined && !isInside,
      isMovable,
      isRepeatable,
      work: kernel === undefined ? 0 : work.of(kernel.primitive),
    };
  });
}

/** Returns true if all sizes in a primitive function are numbers, or symbols of parameters. */
function isSized(primitive: FunctionExpr, symbols: ReadonlySet<string>): boolean {
  return postOrder(primitive)
    .flatMap(mentionedIn)
    .every((symbol) => symbols.has(symbol) && !isUnknownDim(symbol));
}

/** Returns a test for variables that only kernels read. */
function readByKernelsOnly(
  reads: readonly (readonly VarExpr[])[],
  isKernel: (step: number) => boolean,
): (variable: VarExpr) => boolean {
  const others = new Set(reads.flatMap((read, step) => (isKernel(step) ? [] : read)));
  return (variable) => !others.has(variable);
}

/** The work of kernels, at usual sizes. */
class WorkOfKernels {
  readonly #types: TypeInference;
  readonly #sizes: ReturnType<typeof sizesOf>;

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#types = types;
    this.#sizes = sizesOf(fn);
  }

  of({ body }: FunctionExpr): number {
    let sum = 0;
    for (const expr of postOrder(body)) {
      if (expr.kind === 'call') sum += callWork(expr, this.#types, this.#sizes);
    }
    return sum;
  }
}
