import type { Dim } from '../../../core/dims/dim.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { BlockTable, innerBlocks, type Step } from '../../ir/walk/block.ts';
import { call, letIn, variableOf, variable } from '../../ir/build.ts';
import { byteLengthOf } from '../../ir/byte-length.ts';
import type { CallExpr, Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import {
  ALLOC_STORAGE,
  ALLOC_TENSOR,
  APPEND,
  CALL_INTO,
  OWN,
  REUSE,
  WHOLE,
} from '../../ir/operators/machine-operators.ts';
import { STORAGE_TYPE, tensorType } from '../../ir/type.ts';
import { mapFunctions, postOrder, rewrite, withChildren } from '../../ir/walk/visit.ts';
import type { Pass } from '../pass.ts';
import { type BlockPlan, BlockPlans, type KernelCall, missing, valuesOf } from './block-plans.ts';
import type { FunctionMemoryPlan, MemoryPlanReport } from './memory-report.ts';
import { type Overwrite, overwrittenParameter, changeOf } from './overwrites.ts';
import type { PlannedStorage } from './planned-storage.ts';
import { reportPlan } from './report-plan.ts';
import { simplifyDim } from '../../../core/dims/dim-algebra.ts';
import { OPERATOR_ROOM } from '../../../ops/tables/room.ts';
import { symbolsOfType } from '../../inference/sizes/gather-dim-facts.ts';
import { isInnerAxis } from '../../ir/append-axis.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';

/** Tensors that `append` extends along an inner axis, by their variables: there may be room between their slices. */
class GrowingTensors {
  readonly #types: TypeInference;
  readonly #axes = new Map<VarExpr, number>();
  #count = 0;

  constructor(types: TypeInference) {
    this.#types = types;
  }

  add({ block, kernels }: BlockPlan): void {
    for (const kernel of kernels) {
      const { overwrite, step, type } = kernel;
      const variable = block.steps[step]?.variable;
      const axis = overwrite?.kind === 'appended' ? overwrite.axis : this.changedAxis(kernel);
      if (axis === undefined || variable === undefined) continue;
      if (isInnerAxis(type, axis)) this.#axes.set(variable, axis);
    }
  }

  /**
   * The axis along which a kernel changes such a tensor where it lies. The machine gives it the room too, so that no
   * other size may follow from that one.
   */
  changedAxis({ call: { args }, primitive, overwrite }: KernelCall): number | undefined {
    const given = overwrite?.kind === 'owned' ? args[overwrite.input] : undefined;
    const axis = given?.kind === 'var' ? this.#axes.get(given) : undefined;
    const change = axis === undefined ? undefined : changeOf(primitive, this.#types);
    if (axis === undefined || change?.axis !== axis) return undefined;
    const fields = primitive.params.map((param) => this.#types.of(param));
    const type = fields[change.input];
    if (type?.kind !== 'tensor') return undefined;
    const { shape } = type;
    const size = symbolsOfType({ ...type, shape: shape.slice(axis, axis + 1) });
    fields[change.input] = { ...type, shape: shape.toSpliced(axis, 1) };
    const others = symbolsOfType({ kind: 'tuple', fields });
    return [...size].some((symbol) => others.has(symbol)) ? undefined : axis;
  }

  /**
   * A call whose kernel reads such tensors where they lie, with the room between their slices, and what comes before
   * it. The machine would copy them for other kernels.
   */
  readInPlace(kernel: KernelCall): { readonly before: Step[]; readonly kernel: KernelCall } {
    const { call: kernelCall, overwrite } = kernel;
    const before: Step[] = [];
    let read = kernel;
    for (const [i, arg] of kernelCall.args.entries()) {
      const axis = arg.kind === 'var' ? this.#axes.get(arg) : undefined;
      const isCopied = overwrite?.kind === 'appended' || overwrite?.input === i;
      if (arg.kind !== 'var' || axis === undefined || isCopied) continue;
      const primitive = this.#readingSlice(read.primitive, i, axis);
      if (primitive === undefined) continue;
      const value = call(WHOLE, [arg], { axis }, kernelCall.span);
      const whole = variableOf(`w${this.#count++}`, this.#types.of(value));
      before.push({ variable: whole, value });
      const args = [...read.call.args.with(i, whole), arg];
      read = { ...read, primitive, call: { ...read.call, callee: primitive, args } };
    }
    return { before, kernel: read };
  }

  /**
   * The function with the whole tensor as a parameter, of which it takes a slice, or its only reader what counts;
   * undefined if it reads nothing of it.
   */
  #readingSlice(primitive: FunctionExpr, index: number, axis: number): FunctionExpr | undefined {
    const param = primitive.params[index];
    const type = param && this.#types.of(param);
    const calls = postOrder(primitive.body).filter((expr) => expr.kind === 'call');
    const [reader, ...others] = calls.filter(({ args }) => args.some((arg) => arg === param));
    if (param === undefined || type?.kind !== 'tensor' || reader === undefined) return undefined;
    const { dtype, shape } = type;
    const length = shape[axis] ?? 0;
    const size: Dim = { op: 'add', left: length, right: `${param.name}.room` };
    const whole = variable(param.name, dtype, shape.with(axis, simplifyDim(size)));
    const slice = call('slice', [whole], { starts: shape.map(() => 0), ends: shape }, reader.span);
    const { prefix } = OPERATOR_ROOM[operatorName(reader)] ?? {};
    const isCounted =
      others.length === 0 &&
      prefix?.axis === axis &&
      reader.args.every((arg, i) => arg !== param || prefix.inputs.includes(i));
    const body = rewrite(primitive.body, (expr, original) => {
      if (expr === param) return isCounted ? whole : slice;
      if (original !== reader || expr.kind !== 'call' || !isCounted) return expr;
      const { [prefix.attribute]: given = [] } = expr.attributes;
      const count = Array.isArray(given) && given.length > 0 ? given : [length];
      return { ...expr, attributes: { ...expr.attributes, [prefix.attribute]: count } };
    });
    const params = primitive.params.with(index, whole);
    // Nothing else may tell how much of it there is.
    return { ...primitive, params: [...params, param], body };
  }
}

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
