import type { Dim } from '../../../core/dims/dim.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { BlockTable, innerBlocks, type Step } from '../../ir/walk/block.ts';
import { call, letIn, variableOf } from '../../ir/build.ts';
import { byteLengthOf } from '../../ir/byte-length.ts';
import type { CallExpr, Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import {
  ALLOC_STORAGE,
  ALLOC_TENSOR,
  APPEND,
  CALL_INTO,
  OWN,
  REUSE,
} from '../../ir/operators/machine-operators.ts';
import { STORAGE_TYPE, tensorType } from '../../ir/type.ts';
import { mapFunctions, postOrder, rewrite, withChildren } from '../../ir/walk/visit.ts';
import type { Pass } from '../pass.ts';
import { type BlockPlan, BlockPlans, type KernelCall, missing, valuesOf } from './block-plans.ts';
import { GrowingTensors } from './growing-tensors.ts';
import type { FunctionMemoryPlan, MemoryPlanReport } from './memory-report.ts';
import { type Overwrite, overwrittenParameter } from './overwrites.ts';
import type { PlannedStorage } from './planned-storage.ts';
import { reportPlan } from './report-plan.ts';

/**
 * Gives the results of kernels their memory. A call of a primitive function becomes `call_into` with
 * a destination, a tensor (`alloc_tensor`) in a storage (`alloc_storage`) that values of one block
 * may have one after the other, of other dtypes too. In A-normal form; `call_into` has effects, so
 * that of other passes only those that follow in the pipeline may run after this one.
 *
 * A value that leaves its block has a storage for itself: results, what is captured or put into data, and
 * arguments of functions. So memory is never reused across a join of branches or a recursion. Of a
 * symbolic size the bounds of the function count; without them values share a storage where their
 * sizes are the same formula.
 *
 * `onPlan` is called with what was planned.
 */
export function planMemory(onPlan?: (report: MemoryPlanReport) => void): Pass {
  return {
    name: 'plan-memory',
    run(module, { types }) {
      types.declare(module);
      const functions: FunctionMemoryPlan[] = [];
      const planned = mapFunctions(module, (given, name) => {
        const found = new BlockTable(given.body);
        const fn = takeShapesFromResults(given, found, types);
        const blocks = fn === given ? found : new BlockTable(fn.body);
        const plans = new BlockPlans(fn, blocks, types);
        functions.push(reportPlan(name, fn.body, plans));
        return new StorageAllocation(fn, blocks, {
          plans,
          growing: new GrowingTensors(types),
        }).run();
      });
      onPlan?.({ functions });
      return planned;
    },
  };
}

/** The allocations before a step, and the call that its kernel becomes. */
type Allocations = ReadonlyMap<number, { readonly before: readonly Step[]; readonly value: Expr }>;

const NO_ALLOCATIONS: Allocations = new Map();

/** Puts into a function what was planned for its blocks. */
class StorageAllocation {
  readonly #fn: FunctionExpr;
  readonly #blocks: BlockTable;
  readonly #plans: BlockPlans;
  readonly #growing: GrowingTensors;
  /** Blocks that are finished, by what they began with. */
  readonly #results = new Map<Expr, Expr>();
  #storageCount = 0;
  #tensorCount = 0;

  constructor(
    fn: FunctionExpr,
    blocks: BlockTable,
    { plans, growing }: { readonly plans: BlockPlans; readonly growing: GrowingTensors },
  ) {
    this.#fn = fn;
    this.#blocks = blocks;
    this.#plans = plans;
    this.#growing = growing;
  }

  run(): FunctionExpr {
    const roots = this.#blocks.roots();
    const allocations = new Map<Expr, Allocations>();
    for (const root of roots) this.#growing.add(this.#plans.of(root));
    // Blocks around others come first, so that names are in the order of the text.
    for (const root of roots.toReversed())
      allocations.set(root, this.#allocate(this.#plans.of(root)));
    for (const root of roots) {
      const result = this.#rebuild(root, allocations.get(root) ?? NO_ALLOCATIONS);
      if (result !== root) this.#results.set(root, result);
    }
    const body = this.#results.get(this.#fn.body);
    return body === undefined ? this.#fn : { ...this.#fn, body };
  }

  /** The replacement of each kernel's call, and the code before it. */
  #allocate({ kernels, places }: BlockPlan): Allocations {
    const variables = new Map<PlannedStorage, VarExpr>();
    const planned = new Map<number, { before: Step[]; value: Expr }>();
    for (const [i, found] of kernels.entries()) {
      const { before, kernel } = this.#growing.readInPlace(found);
      const { call: kernelCall, primitive, type, step } = kernel;
      if (kernel.overwrite !== undefined) {
        planned.set(step, this.#overwriting(kernel, kernel.overwrite, before));
        continue;
      }
      const { storage, byteOffset: offset, isJoined } = places[i] ?? missing();
      let variable = variables.get(storage);
      if (variable === undefined) {
        variable = variableOf(`s${this.#storageCount++}`, STORAGE_TYPE);
        variables.set(storage, variable);
        before.push({ variable, value: allocation(storage, kernel) });
      }
      const { dtype, shape } = type;
      const attributes = offset === 0 ? { shape, dtype } : { shape, dtype, offset };
      const allocated = call(ALLOC_TENSOR, [variable], attributes, kernelCall.span);
      if (isJoined) {
        planned.set(step, { before, value: allocated });
        continue;
      }
      const tensor = variableOf(`t${this.#tensorCount++}`, tensorType(type));
      before.push({ variable: tensor, value: allocated });
      const callee = kernelCall.callee.kind === 'var' ? kernelCall.callee : primitive;
      const args = [callee, ...kernelCall.args, tensor];
      planned.set(step, { before, value: call(CALL_INTO, args, {}, kernelCall.span) });
    }
    return planned;
  }

  /** A kernel changes an input, which is its destination too. */
  #overwriting(
    kernel: KernelCall,
    overwrite: Overwrite,
    before: Step[],
  ): { before: Step[]; value: Expr } {
    const { call: kernelCall, primitive, type } = kernel;
    const { callee, args, span } = kernelCall;
    const { kind, input, isOptional } = overwrite;
    const axis = this.#growing.changedAxis(kernel);
    if (kind === 'appended') {
      const parts = overwrite.parts.map((index) => args[index] ?? missing());
      return { before, value: call(APPEND, parts, { axis: overwrite.axis }, span) };
    }
    const given = args[input] ?? missing();
    let target = given;
    if (kind === 'owned') {
      const known = given.kind === 'var' ? given.type : undefined;
      const variable = variableOf(`t${this.#tensorCount++}`, known ?? tensorType(type));
      // Of a tensor with room, as it is, or copied where somebody else has it.
      const owned =
        axis === undefined
          ? call(isOptional ? REUSE : OWN, [given], {}, span)
          : call(APPEND, [given], { axis }, span);
      before.push({ variable, value: owned });
      target = variable;
    }
    const inputs = isOptional ? args : args.with(input, target);
    const named = callee.kind === 'var' ? callee : primitive;
    const called = isOptional ? inPlace(primitive, input) : named;
    return { before, value: call(CALL_INTO, [called, ...inputs, target], {}, span) };
  }

  #rebuild(root: Expr, allocations: Allocations): Expr {
    const { block } = this.#plans.of(root);
    const isKept = valuesOf(block).every((value) => this.#isKept(value));
    if (isKept && allocations.size === 0) return root;
    const end = block.steps.length;
    let result = allocations.get(end)?.value ?? this.#withInner(block.result);
    for (let step = end; step >= 0; step--) {
      const planned = allocations.get(step);
      const bound = block.steps[step];
      if (bound !== undefined) {
        result = letIn(bound.variable, planned?.value ?? this.#withInner(bound.value), result);
      }
      for (const { variable, value } of planned?.before.toReversed() ?? []) {
        result = letIn(variable, value, result);
      }
    }
    return result;
  }

  #isKept(value: Expr): boolean {
    return innerBlocks(value).every((inner) => !this.#results.has(inner));
  }

  /** The value with its inner blocks as they were planned. */
  #withInner(value: Expr): Expr {
    if (this.#isKept(value)) return value;
    const resultOf = (child: Expr): Expr => this.#results.get(child) ?? child;
    if (value.kind !== 'call') return withChildren(value, resultOf);
    return { ...value, callee: withChildren(value.callee, resultOf) };
  }
}

function inPlace(primitive: FunctionExpr, input: number): FunctionExpr {
  return { ...primitive, attributes: { ...primitive.attributes, inPlace: input } };
}

function allocation(
  storage: PlannedStorage,
  { call: { span }, type, device }: KernelCall,
): CallExpr {
  // A tensor that has the storage for itself gets no more than it needs.
  const formula = byteLengthOf(type);
  const isOwn = storage.size === undefined || (storage.tensors.length === 1 && isDynamic(formula));
  const bytes: readonly Dim[] = [isOwn ? formula : (storage.size ?? formula)];
  return call(ALLOC_STORAGE, [], device === 'host' ? { bytes, device } : { bytes }, span);
}

function isDynamic(dim: Dim): boolean {
  return typeof dim !== 'number';
}

/**
 * Gives kernels that ask for nothing but the shape of a tensor (see `symbolCarriers`) what replaced it, where a kernel before them
 * changed the tensor in place: its result has the same shape. Otherwise the tensor would still be in use, and the kernel that changes
 * it would have to copy all of it first. In A-normal form.
 */
function takeShapesFromResults(
  fn: FunctionExpr,
  blocks: BlockTable,
  { operators }: TypeInference,
): FunctionExpr {
  const replaced = new Map<Expr, CallExpr>();
  for (const root of blocks.roots()) {
    /** Results of kernels that changed a tensor in place, by the variable of the tensor. */
    const results = new Map<VarExpr, VarExpr>();
    for (const { variable, value } of blocks.of(root).steps) {
      const primitive = blocks.kernel(value);
      if (primitive === undefined || value.kind !== 'call') continue;
      const args = value.args.map((arg, i) => {
        const result = arg.kind === 'var' ? results.get(arg) : undefined;
        return result === undefined || isRead(primitive, i) ? arg : latest(results, result);
      });
      if (args.some((arg, i) => arg !== value.args[i])) replaced.set(value, { ...value, args });
      const input = overwrittenParameter(primitive, operators);
      const changed = input === undefined ? undefined : value.args[input];
      if (changed?.kind === 'var') results.set(changed, variable);
    }
  }
  if (replaced.size === 0) return fn;
  return { ...fn, body: rewrite(fn.body, (expr, original) => replaced.get(original) ?? expr) };
}

function isRead({ params, body }: FunctionExpr, index: number): boolean {
  const param = params[index];
  return param === undefined || postOrder(body).includes(param);
}

function latest(results: ReadonlyMap<VarExpr, VarExpr>, variable: VarExpr): VarExpr {
  let last = variable;
  for (let next = results.get(last); next !== undefined; next = results.get(last)) last = next;
  return last;
}
