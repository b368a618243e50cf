import type { DimFacts } from '../../core/dim-bounds.ts';
import { boundsOfDim } from '../../core/dim-algebra.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import type { TensorType } from '../../core/primitive-function.ts';
import { type Block, BlockTable, innerBlocks, type Step } from '../block.ts';
import { byteLengthOf } from '../byte-length.ts';
import { call, letIn, variableOf } from '../ir/build.ts';
import type { CallExpr, DeviceName, Expr, FunctionExpr, VarExpr } from '../ir/expr.ts';
import { ALLOC_STORAGE, ALLOC_TENSOR, CALL_INTO } from '../ir/machine-operators.ts';
import { STORAGE_TYPE, tensorType } from '../ir/type.ts';
import { mapFunctions, withChildren } from '../ir/visit.ts';
import {
  assignStorages,
  liveBytes,
  type PlannedStorage,
  type TensorInterval,
} from '../memory/assign-storages.ts';
import type { FunctionMemoryPlan, MemoryPlanReport } from '../memory/memory-report.ts';
import { TensorAliases } from '../memory/tensor-aliases.ts';
import type { TypeInference } from '../type-inference.ts';
import type { Pass } from './pass.ts';

/** Storages begin at multiples of this, and take as many bytes. */
const ALIGNMENT = 256;

/** Beyond this a bound says too little of a size to reserve so much. */
const MAX_BOUNDED_BYTES = 2 ** 26;

/**
 * Gives the results of kernels their memory. A call of a primitive function becomes `call_into` with
 * a destination, a tensor (`alloc_tensor`) in a storage (`alloc_storage`) that values of one block
 * may have one after the other, of other dtypes too. In A-normal form; `call_into` has effects, so
 * that of other passes only those that follow in the pipeline may run after this one.
 *
 * What leaves its block has a storage for itself: results, what is captured or put into data, and
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
      const planned = mapFunctions(module, (fn, name) => {
        const planner = new FunctionPlanner(fn, types);
        const result = planner.plan();
        functions.push(...planner.reports(name));
        return result;
      });
      onPlan?.({ functions });
      return planned;
    },
  };
}

/** A call of a primitive function in a block, and the tensor that it computes. */
interface KernelCall {
  readonly call: CallExpr;
  readonly primitive: FunctionExpr;
  readonly type: TensorType;
  /** The step; that after the last for the value of the block. */
  readonly step: number;
  readonly device: DeviceName;
  readonly interval: TensorInterval;
  /** Bytes without alignment; undefined where nothing bounds them. */
  readonly exactSize: number | undefined;
}

/** What was planned for a block. */
interface BlockPlan {
  readonly block: Block;
  readonly kernels: readonly KernelCall[];
  readonly storages: readonly PlannedStorage[];
  readonly peaks: BlockPeaks;
}

/** What is allocated before a step, and the call that its kernel becomes. */
type Allocations = ReadonlyMap<number, { readonly before: readonly Step[]; readonly value: Expr }>;

const NO_ALLOCATIONS: Allocations = new Map();

/** What a block holds at most, the blocks of branches inside it included. */
interface BlockPeaks {
  readonly planned: number;
  readonly live: number;
}

const NO_PEAKS: BlockPeaks = { planned: 0, live: 0 };

class FunctionPlanner {
  readonly #fn: FunctionExpr;
  readonly #types: TypeInference;
  readonly #blocks: BlockTable;
  readonly #aliases: TensorAliases;
  readonly #facts: DimFacts;
  /** Blocks that are finished, by what they began with. */
  readonly #results = new Map<Expr, Expr>();
  readonly #plans = new Map<Expr, BlockPlan>();
  #storageCount = 0;
  #tensorCount = 0;

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#fn = fn;
    this.#types = types;
    this.#blocks = new BlockTable(fn.body);
    this.#aliases = new TensorAliases(this.#blocks);
    const bounds = Object.entries(fn.attributes.bounds ?? {});
    this.#facts = new Map(bounds.map(([symbol, [min, max]]) => [symbol, { min, max }]));
  }

  plan(): FunctionExpr {
    const roots = this.#blocks.roots();
    for (const root of roots) this.#plans.set(root, this.#planBlock(root));
    const allocations = new Map<Expr, Allocations>();
    // Blocks around others come first, so that names are in the order of the text.
    for (const root of roots.toReversed())
      allocations.set(root, this.#allocate(this.#planOf(root)));
    for (const root of roots) {
      const result = this.#rebuild(root, allocations.get(root) ?? NO_ALLOCATIONS);
      if (result !== root) this.#results.set(root, result);
    }
    const body = this.#results.get(this.#fn.body);
    return body === undefined ? this.#fn : { ...this.#fn, body };
  }

  /** One for the function, and one for each closure that computes something. */
  reports(name: string): FunctionMemoryPlan[] {
    const bodies = this.#closureBodies().filter((body) => this.#storagesOf(body).length > 0);
    return [
      this.#report(name, this.#fn.body),
      ...bodies.map((body) => this.#report(`${name}.fn`, body)),
    ];
  }

  #report(name: string, body: Expr): FunctionMemoryPlan {
    const { planned, live } = this.#planOf(body).peaks;
    const storages = this.#storagesOf(body);
    const unsized = storages.filter(({ size }) => size === undefined);
    return {
      name,
      plannedPeakBytes: planned,
      largestLiveSetBytes: live,
      storages: storages.length,
      tensors: tensorCount(storages),
      storageBytes: storages.reduce((sum, { size = 0 }) => sum + size, 0),
      unsizedTensors: tensorCount(unsized),
    };
  }

  #closureBodies(): Expr[] {
    const found: Expr[] = [];
    const work = [this.#fn.body];
    for (let body = work.pop(); body !== undefined; body = work.pop()) {
      const inside = this.#blocks.functionsIn(body).map((fn) => fn.body);
      found.push(...inside);
      work.push(...inside);
    }
    return found;
  }

  /** Storages of a body and of the branches in it. */
  #storagesOf(body: Expr): PlannedStorage[] {
    const found: PlannedStorage[] = [];
    const work = [body];
    for (let root = work.pop(); root !== undefined; root = work.pop()) {
      const { block, storages } = this.#planOf(root);
      found.push(...storages);
      for (const value of valuesOf(block)) {
        if (value.kind === 'if' || value.kind === 'match') work.push(...innerBlocks(value));
      }
    }
    return found;
  }

  #planOf(root: Expr): BlockPlan {
    return this.#plans.get(root) ?? missing();
  }

  #planBlock(root: Expr): BlockPlan {
    const block = this.#blocks.of(root);
    const kernels = this.#kernelsOf(block);
    const intervals = kernels.map(({ interval }) => interval);
    const inner = valuesOf(block).map((value) => this.#innerPeaks(value));
    const others = inner.map(({ planned }) => planned);
    const storages = assignStorages(intervals, others);
    const exact = kernels.map(({ interval, exactSize }) => ({ ...interval, size: exactSize }));
    const innerLive = inner.map(({ live }) => live);
    const peaks = {
      planned: greatest(liveBytes(storages, others)),
      live: greatest(liveBytes(exact, innerLive)),
    };
    return { block, kernels, storages, peaks };
  }

  #innerPeaks(value: Expr): BlockPeaks {
    if (value.kind !== 'if' && value.kind !== 'match') return NO_PEAKS;
    const inside = innerBlocks(value).map((root) => this.#planOf(root).peaks);
    return {
      planned: greatest(inside.map(({ planned }) => planned)),
      live: greatest(inside.map(({ live }) => live)),
    };
  }

  #kernelsOf(block: Block): KernelCall[] {
    const lastUse = this.#lastUses(block);
    const kernels: KernelCall[] = [];
    const end = block.steps.length;
    for (const [step, value] of valuesOf(block).entries()) {
      const primitive = this.#blocks.kernel(value);
      if (primitive === undefined || value.kind !== 'call') continue;
      const type = value.callee.kind === 'operator' ? undefined : this.#plannable(primitive);
      if (type === undefined) continue;
      const { device = 'session' } = primitive.attributes;
      const variable = block.steps[step]?.variable;
      const isShared = variable !== undefined && !this.#aliases.escapes(variable);
      const last = variable === undefined || !isShared ? end : (lastUse.get(variable) ?? step);
      const exactSize = this.#sizeOf(type);
      const size = exactSize === undefined ? undefined : aligned(exactSize);
      const formula = size === undefined ? ` ${formatDim(byteLengthOf(type))}` : '';
      const interval = { first: step, last, size, storageClass: device + formula, isShared };
      kernels.push({ call: value, primitive, type, step, device, interval, exactSize });
    }
    return kernels;
  }

  /** The last step of a block that reads a value under any name. */
  #lastUses({ steps, lastUse }: Block): ReadonlyMap<VarExpr, number> {
    const last = new Map<VarExpr, number>();
    for (const [step, { variable }] of steps.entries()) {
      const root = this.#aliases.rootOf(variable);
      const use = lastUse.get(variable) ?? step;
      last.set(root, Math.max(last.get(root) ?? 0, use));
    }
    return last;
  }

  /** The result of a kernel that writes to a destination; one of unknown size makes its own. */
  #plannable(primitive: FunctionExpr): TensorType | undefined {
    const type = this.#types.of(primitive.body);
    return type.kind === 'tensor' && !type.shape.includes('?') ? type : undefined;
  }

  #sizeOf(type: TensorType): number | undefined {
    const bytes = byteLengthOf(type);
    if (typeof bytes === 'number') return bytes;
    const [, most] = boundsOfDim(bytes, this.#facts);
    return most <= MAX_BOUNDED_BYTES ? most : undefined;
  }

  /** What stands in the place of each kernel's call, and before it. */
  #allocate({ kernels, storages }: BlockPlan): Allocations {
    const storageOf = new Map<number, PlannedStorage>();
    for (const storage of storages) for (const i of storage.tensors) storageOf.set(i, storage);
    const variables = new Map<PlannedStorage, VarExpr>();
    const planned = new Map<number, { before: Step[]; value: Expr }>();
    for (const [i, { call: kernelCall, primitive, type, device, step }] of kernels.entries()) {
      const storage = storageOf.get(i) ?? missing();
      const before: Step[] = [];
      let variable = variables.get(storage);
      if (variable === undefined) {
        variable = variableOf(`s${this.#storageCount++}`, STORAGE_TYPE);
        variables.set(storage, variable);
        before.push({ variable, value: allocation(storage, type, device) });
      }
      const tensor = variableOf(`t${this.#tensorCount++}`, tensorType(type));
      const { dtype, shape } = type;
      before.push({ variable: tensor, value: call(ALLOC_TENSOR, [variable], { shape, dtype }) });
      const callee = kernelCall.callee.kind === 'var' ? kernelCall.callee : primitive;
      const args = [callee, ...kernelCall.args, tensor];
      planned.set(step, { before, value: call(CALL_INTO, args, {}, kernelCall.span) });
    }
    return planned;
  }

  #rebuild(root: Expr, allocations: Allocations): Expr {
    const { block } = this.#planOf(root);
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

function allocation(storage: PlannedStorage, type: TensorType, device: DeviceName): CallExpr {
  // A tensor that has the storage for itself gets no more than it needs.
  const formula = byteLengthOf(type);
  const isOwn = storage.size === undefined || (storage.tensors.length === 1 && isDynamic(formula));
  const bytes: readonly Dim[] = [isOwn ? formula : (storage.size ?? formula)];
  return call(ALLOC_STORAGE, [], device === 'host' ? { bytes, device } : { bytes });
}

function isDynamic(dim: Dim): boolean {
  return typeof dim !== 'number';
}

/** The values of the steps of a block, and the one that the block gives. */
function valuesOf({ steps, result }: Block): Expr[] {
  return [...steps.map(({ value }) => value), result];
}

function tensorCount(storages: readonly PlannedStorage[]): number {
  return storages.reduce((sum, { tensors }) => sum + tensors.length, 0);
}

function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

function missing(): never {
  throw new Error('internal: a kernel without a storage');
}
