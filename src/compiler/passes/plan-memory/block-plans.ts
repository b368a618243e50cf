import { boundsOfDim } from '../../../core/dims/dim-algebra.ts';
import type { DimFacts } from '../../../core/dims/dim-bounds.ts';
import { formatDim } from '../../../core/dims/dim.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { type Block, type BlockTable, innerBlocks } from '../../ir/walk/block.ts';
import { isInnerAxis } from '../../ir/append-axis.ts';
import { byteLengthOf } from '../../ir/byte-length.ts';
import type { CallExpr, DeviceName, Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { assignStorages, greatest } from './assign-storages.ts';
import { findParts, isJoin, type Part } from './joined-tensors.ts';
import { liveBytes, type PlannedStorage, type TensorInterval } from './planned-storage.ts';
import {
  type Append,
  appendOf,
  changeOf,
  LaterReads,
  type Overwrite,
  overwrittenParameter,
  type OverwrittenMemory,
  parametersInPlace,
} from './overwrites.ts';
import { postOrder } from '../../ir/walk/visit.ts';
import { TensorAliases } from './tensor-aliases.ts';

/** Storages begin at multiples of this, and take as many bytes. */
const ALIGNMENT = 256;

/** Beyond this a bound says too little of a size to reserve so much. */
const MAX_BOUNDED_BYTES = 2 ** 26;

/** A call of a primitive function in a block, and the tensor that it computes. */
export interface KernelCall {
  readonly call: CallExpr;
  readonly primitive: FunctionExpr;
  readonly type: TensorType;
  /** The step; that after the last for the value of the block. */
  readonly step: number;
  readonly device: DeviceName;
  readonly interval: TensorInterval;
  /** Bytes without alignment; undefined where nothing bounds them. */
  readonly exactSize: number | undefined;
  /** Kernels whose results it joins in memory, if that is all it does. */
  readonly operands: readonly number[] | undefined;
  /** The input in whose memory its result lies, and which it thereby changes. */
  readonly overwrite: Overwrite | undefined;
}

/** The place of a kernel's result in memory. */
interface TensorPlace {
  readonly storage: PlannedStorage;
  readonly byteOffset: number;
  /**
   * True if the result is complete when its parts are written to their places, so that its kernel
   * need not run.
   */
  readonly isJoined: boolean;
}

export interface BlockPlan {
  readonly block: Block;
  readonly kernels: readonly KernelCall[];
  readonly storages: readonly PlannedStorage[];
  /** Places of the kernels' results, by kernel. */
  readonly places: readonly TensorPlace[];
  /** By step, and for the result: the bytes that blocks inside it hold. */
  readonly innerBytes: readonly number[];
  readonly peaks: BlockPeaks;
}

/** The most bytes that a block holds, the blocks of branches inside it included. */
interface BlockPeaks {
  readonly planned: number;
  readonly live: number;
}

const NO_PEAKS: BlockPeaks = { planned: 0, live: 0 };

export class BlockPlans {
  readonly #blocks: BlockTable;
  readonly #types: TypeInference;
  readonly #aliases: TensorAliases;
  readonly #reads: LaterReads;
  readonly #facts: DimFacts;
  readonly #plans = new Map<Expr, BlockPlan>();

  constructor(fn: FunctionExpr, blocks: BlockTable, types: TypeInference) {
    this.#blocks = blocks;
    this.#types = types;
    this.#aliases = new TensorAliases(blocks);
    this.#reads = new LaterReads(blocks, this.#aliases);
    const bounds = Object.entries(fn.attributes.bounds ?? {});
    this.#facts = new Map(bounds.map(([symbol, [min, max]]) => [symbol, { min, max }]));
    // Blocks inside others come first.
    for (const root of blocks.roots()) this.#plans.set(root, this.#planBlock(root));
  }

  of(root: Expr): BlockPlan {
    const plan = this.#plans.get(root);
    if (plan === undefined) throw new Error('internal: a block without a plan');
    return plan;
  }

  #planBlock(root: Expr): BlockPlan {
    const block = this.#blocks.of(root);
    const wanted = this.#kernelsOf(root, block);
    const inner = valuesOf(block).map((value) => this.#innerPeaks(value));
    const others = inner.map(({ planned }) => planned);
    const joins = findParts(wanted, others, overwrittenParts(wanted.filter(isNeeded)));
    const innerLive = inner.map(({ live }) => live);
    const planOf = (kernels: readonly KernelCall[]): BlockPlan => {
      const parts = new Map([...overwrittenParts(kernels), ...joins]);
      const wholes = joinIntervals(kernels, parts);
      const storages = assignStorages(
        wholes.map(({ interval }) => interval),
        others,
      );
      const peaks = {
        planned: greatest(liveBytes(storages, others)),
        live: greatest(liveBytes(exactIntervals(kernels, parts), innerLive)),
      };
      const owners = wholes.map(({ owner }) => owner);
      const places = placesOf(kernels, { storages, owners, parts, joins });
      return { block, kernels, storages, places, innerBytes: others, peaks };
    };
    const together = planOf(withoutJoined(wanted, joins));
    if (!together.kernels.some(mayBeApart)) return together;
    // Results in the place of inputs hold it for longer, where scratch memory of kernels could be.
    const apart = planOf(together.kernels.map(placedApart));
    return together.peaks.planned <= apart.peaks.planned * WORTH_SHARING ? together : apart;
  }

  #innerPeaks(value: Expr): BlockPeaks {
    if (value.kind !== 'if' && value.kind !== 'match') return NO_PEAKS;
    const inside = innerBlocks(value).map((root) => this.of(root).peaks);
    return {
      planned: greatest(inside.map(({ planned }) => planned)),
      live: greatest(inside.map(({ live }) => live)),
    };
  }

  #kernelsOf(root: Expr, block: Block): KernelCall[] {
    const lastUse = this.#lastUses(block);
    const appends = this.#appends(root, block);
    const kernels: KernelCall[] = [];
    /** Kernels by the variables that their results are bound to. */
    const indices = new Map<VarExpr, number>();
    const end = block.steps.length;
    for (const [step, value] of valuesOf(block).entries()) {
      const primitive = this.#blocks.kernel(value);
      if (primitive === undefined || value.kind !== 'call') continue;
      const type = value.callee.kind === 'operator' ? undefined : this.#plannable(primitive);
      if (type === undefined) continue;
      const { device = 'session' } = primitive.attributes;
      const variable = block.steps[step]?.variable;
      const isInside = variable !== undefined && !this.#aliases.escapes(variable);
      const last = isInside ? (lastUse.get(variable) ?? step) : end;
      const exactSize = this.#sizeOf(type);
      const size = exactSize === undefined ? undefined : aligned(exactSize);
      const formula = size === undefined ? ` ${formatDim(byteLengthOf(type))}` : '';
      const reads = this.#kernelsRead(value, indices);
      const storageClass = device + formula;
      const append = appends.get(step);
      const overwritten = { call: value, primitive, append, isInside };
      const overwrite = this.#overwrite({ root, step }, overwritten, (read) => {
        const kernel = indices.get(read);
        const given = kernel === undefined ? undefined : kernels[kernel]?.interval;
        // Memory that is no other's is like that of a parameter.
        if (kernel === undefined || given?.isShared === false) return { kind: 'owned' };
        const isSame = given?.storageClass === storageClass && given.size === size;
        return isSame ? { kind: 'planned', kernel } : undefined;
      });
      const isShared = isInside && (overwrite === undefined || overwrite.kind === 'planned');
      const interval = { first: step, last, size, storageClass, isShared, reads };
      if (variable !== undefined) indices.set(variable, kernels.length);
      const isOfKernels = reads.length === value.args.length;
      const isJoining = isOfKernels && isJoin(primitive, type, this.#types.operators);
      const operands = isJoining ? reads : undefined;
      const planned = { interval, exactSize, operands, overwrite };
      kernels.push({ call: value, primitive, type, step, device, ...planned });
    }
    return kernels;
  }

  /**
   * Calls of a block that extend a tensor which nothing reads after, by step, where the result leaves the block, as it
   * is, changed or extended again. Others have a place in the plan.
   */
  #appends(root: Expr, block: Block): ReadonlyMap<number, Append> {
    const appends = new Map<number, Append>();
    /** Tensors that are extended or changed. */
    const extended = new Set<VarExpr>();
    for (const [step, value] of [...valuesOf(block).entries()].toReversed()) {
      const variable = block.steps[step]?.variable;
      const primitive = this.#blocks.kernel(value);
      if (value.kind !== 'call' || primitive === undefined) continue;
      const stays = variable !== undefined && !this.#aliases.escapes(variable);
      if (stays && !extended.has(variable)) continue;
      const append = this.#plannable(primitive) && appendOf(primitive, this.#types);
      const change = append ? undefined : changeOf(primitive, this.#types);
      const found = append ?? change;
      const given = value.args[append?.parts[0] ?? change?.input ?? -1];
      if (found === undefined || given?.kind !== 'var') continue;
      const isInner = this.#isInner(primitive, found);
      if (isInner && this.#isCopied({ root, append: value }, [given, variable])) continue;
      if (this.#reads.isReadAfter({ root, step }, given)) continue;
      if (append) appends.set(step, append);
      extended.add(this.#aliases.rootOf(given));
    }
    return appends;
  }

  #isInner(primitive: FunctionExpr, { axis }: Pick<Append, 'axis'>): boolean {
    const type = this.#types.of(primitive.body);
    return type.kind === 'tensor' && isInnerAxis(type, axis);
  }

  /**
   * Returns true if an extended tensor would be copied to remove the room between its slices: for a
   * view, for a kernel that reads it, or where a branch gives it to its readers.
   */
  #isCopied(
    { root, append }: { readonly root: Expr; readonly append: Expr },
    [given, result]: readonly [VarExpr, VarExpr | undefined],
  ): boolean {
    const block = this.#blocks.of(root);
    const isViewed = [given, result].some((one) => one && this.#aliases.namesOf(one).length > 1);
    const isRead = (value: Expr): boolean => value !== append && this.#readsElements(value, given);
    const { result: end } = block;
    const isEnd = (expr: Expr): boolean => expr === append || expr === result;
    const isGiven = isEnd(end) || (end.kind === 'tuple' && end.fields.some(isEnd));
    return isViewed || valuesOf(block).some(isRead) || (isGiven && !this.#reads.isLast(root));
  }

  #readsElements(value: Expr, variable: VarExpr): boolean {
    const primitive = this.#blocks.kernel(value);
    if (primitive === undefined || value.kind !== 'call') return false;
    const param = primitive.params[value.args.indexOf(variable)];
    return postOrder(primitive.body).some(
      (expr) => expr.kind === 'call' && expr.args.some((arg) => arg === param),
    );
  }

  /** How a call comes by the memory of an input; `found` says so of one that nothing reads after. */
  #overwrite(
    place: { readonly root: Expr; readonly step: number },
    { call: { args }, primitive, append, isInside }: OverwritingCall,
    found: (variable: VarExpr) => OverwrittenMemory | undefined,
  ): Overwrite | undefined {
    const needed = overwrittenParameter(primitive, this.#types.operators);
    const isOptional = needed === undefined;
    const inputs =
      append?.parts.slice(0, 1) ??
      (isOptional ? parametersInPlace(primitive, this.#types) : [needed]);
    const overwrites = inputs.flatMap((input): Overwrite[] => {
      const arg = args[input];
      if (arg?.kind !== 'var') return [];
      const read = this.#aliases.rootOf(arg);
      const isReadAgain = args.some(
        (other, i) => i !== input && other.kind === 'var' && this.#aliases.rootOf(other) === read,
      );
      if (isReadAgain || this.#reads.isReadAfter(place, arg)) return [];
      const memory = found(read);
      if (memory === undefined) return [];
      if (append === undefined) return [{ ...memory, input, isOptional }];
      return memory.kind === 'owned' ? [{ kind: 'appended', ...append, input, isOptional }] : [];
    });
    // A place that is known needs no question when the program runs. What leaves the block has none in the plan:
    // it is better off in the memory of what came in.
    const wanted = isInside ? 'planned' : 'owned';
    return overwrites.find(({ kind }) => kind === wanted) ?? overwrites[0];
  }

  /** Indices of kernels of the block whose results a call reads, under any name. */
  #kernelsRead({ args }: CallExpr, indices: ReadonlyMap<VarExpr, number>): number[] {
    const read = new Set<number>();
    for (const arg of args) {
      const index = arg.kind === 'var' ? indices.get(this.#aliases.rootOf(arg)) : undefined;
      if (index !== undefined) read.add(index);
    }
    return [...read];
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
}

interface OverwritingCall extends Pick<KernelCall, 'call' | 'primitive'> {
  readonly append: Append | undefined;
  /** True if the result does not leave the block. */
  readonly isInside: boolean;
}

/** The values of the steps of a block, and the one that the block gives. */
export function valuesOf({ steps, result }: Block): Expr[] {
  return [...steps.map(({ value }) => value), result];
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Values that get a place of their own: tensors that are no parts of others, in order of computation. */
interface Whole {
  readonly owner: number;
  readonly interval: TensorInterval;
}

type Parts = ReadonlyMap<number, Part>;

/** Results that others change: a part of each at its begin. */
function overwrittenParts(kernels: readonly KernelCall[]): Map<number, Part> {
  const parts = new Map<number, Part>();
  for (const [index, { overwrite }] of [...kernels.entries()].toReversed()) {
    if (overwrite?.kind !== 'planned') continue;
    const whole = parts.get(index)?.whole ?? index;
    parts.set(overwrite.kernel, { whole, byteOffset: 0, end: (kernels[index]?.step ?? 0) - 1 });
  }
  return parts;
}

function isNeeded({ overwrite }: KernelCall): boolean {
  return overwrite?.isOptional !== true;
}

/** Results take the place of inputs if the plan then holds this part at most of what it holds without. */
const WORTH_SHARING = 7 / 8;

/** Returns true if a kernel's result lies in the memory of another one's only to save memory. */
function mayBeApart({ overwrite }: KernelCall): boolean {
  return overwrite?.isOptional === true && overwrite.kind === 'planned';
}

const placedApart = (kernel: KernelCall): KernelCall =>
  mayBeApart(kernel) ? { ...kernel, overwrite: undefined } : kernel;

/** Kernels that lie in the memory of an input only if neither is a part of a tensor that is joined. */
function withoutJoined(kernels: readonly KernelCall[], joins: Parts): readonly KernelCall[] {
  const joined = new Set([...joins].flatMap(([part, { whole }]) => [part, whole]));
  return kernels.map((kernel, index) => {
    const { overwrite } = kernel;
    const isPlanned = overwrite?.isOptional === true && overwrite.kind === 'planned';
    const isJoined = isPlanned && (joined.has(index) || joined.has(overwrite.kernel));
    return isJoined ? { ...kernel, overwrite: undefined } : kernel;
  });
}

function joinIntervals(kernels: readonly KernelCall[], parts: Parts): readonly Whole[] {
  const begins = kernels.map(({ interval }) => interval.first);
  const reads = kernels.map(({ interval }) => new Set(interval.reads));
  for (const [part, { whole }] of parts) {
    begins[whole] = Math.min(begins[whole] ?? 0, begins[part] ?? 0);
    reads[whole]?.delete(part);
    for (const read of reads[part] ?? []) reads[whole]?.add(read);
  }
  const owners = [...kernels.keys()]
    .filter((i) => !parts.has(i))
    .sort((a, b) => (begins[a] ?? 0) - (begins[b] ?? 0));
  const ranks = new Map(owners.map((owner, rank) => [owner, rank]));
  const rankOf = (i: number): number => ranks.get(parts.get(i)?.whole ?? i) ?? missing();
  return owners.map((owner) => {
    const { interval } = kernels[owner] ?? missing();
    const read = new Set([...(reads[owner] ?? [])].map(rankOf));
    return { owner, interval: { ...interval, first: begins[owner] ?? 0, reads: [...read] } };
  });
}

/** Sizes without alignment; parts are counted until the whole is. */
function exactIntervals(kernels: readonly KernelCall[], parts: Parts): readonly TensorInterval[] {
  return kernels.map(({ interval, exactSize: size }, i) => {
    const part = parts.get(i);
    const end = part && (part.end ?? (kernels[part.whole]?.step ?? 0) - 1);
    const last = end ?? interval.last;
    return { ...interval, last, size };
  });
}

interface Planned {
  readonly storages: readonly PlannedStorage[];
  /** Kernels by what the storages call their tensors. */
  readonly owners: readonly number[];
  readonly parts: Parts;
  /** Those of kernels that need not run. */
  readonly joins: Parts;
}

function placesOf(
  kernels: readonly KernelCall[],
  { storages, owners, parts, joins }: Planned,
): readonly TensorPlace[] {
  const joined = new Set([...joins.values()].map(({ whole }) => whole));
  const places = new Map<number, TensorPlace>();
  for (const storage of storages) {
    for (const [at, rank] of storage.tensors.entries()) {
      const owner = owners[rank] ?? missing();
      const byteOffset = storage.byteOffsets[at] ?? 0;
      places.set(owner, { storage, byteOffset, isJoined: joined.has(owner) });
    }
  }
  return [...kernels.keys()].map((i) => {
    const part = parts.get(i);
    const place = places.get(part?.whole ?? i) ?? missing();
    if (part === undefined) return place;
    return { ...place, byteOffset: place.byteOffset + part.byteOffset, isJoined: false };
  });
}

export function missing(): never {
  throw new Error('internal: a kernel without a storage');
}
