import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import type { Operators } from '../../../ops/operators.ts';
import { joinAxis } from '../../ir/append-axis.ts';
import { byteLengthOf } from '../../ir/byte-length.ts';
import type { FunctionExpr } from '../../ir/expr.ts';
import { isOperatorCall } from '../../ir/operators/operator-name.ts';
import { liveBytes, type TensorInterval } from './planned-storage.ts';
import { RangePeaks } from './range-peaks.ts';

/** The place of a tensor that is part of another one. */
export interface Part {
  /** The index of the kernel that would join the parts. */
  readonly whole: number;
  readonly byteOffset: number;
  /** The last step of the part by itself; default that before the whole. */
  readonly end?: number;
}

/** A candidate for joining: a kernel, and those whose results it reads, in order, if that is all it does. */
interface Joinable {
  readonly interval: TensorInterval;
  readonly type: TensorType;
  readonly operands: readonly number[] | undefined;
}

/** Offsets of bindings in a buffer are multiples of this. */
const ALIGNMENT = 256;

/** Returns true if a primitive function only puts its parameters one after the other in memory. */
export function isJoin(
  { params, body }: FunctionExpr,
  result: TensorType,
  operators: Operators,
): boolean {
  if (!isOperatorCall(body)) return false;
  const { callee, args, attributes } = body;
  if (args.length !== params.length || args.some((arg, i) => arg !== params[i])) return false;
  return joinAxis({ op: operators.require(callee.name), attributes, result }) !== undefined;
}

/**
 * Finds kernels that need not run, since what they would join can be computed in its place. A kernel
 * must not read one part while it writes another: no GPU binds a buffer for both. The whole is reserved
 * when its first part is computed; a join that would enlarge the largest set of live values so is not
 * made. `others`: bytes that are held anyway, by step; `overwritten`: results whose place is that of another already.
 */
export function findParts(
  kernels: readonly Joinable[],
  others: readonly number[],
  overwritten: ReadonlyMap<number, Part> = new Map(),
): ReadonlyMap<number, Part> {
  const found = new Map<number, Part>();
  const wholes = new Set<number>();
  const isPlaced = new Set([...overwritten].flatMap(([index, { whole }]) => [index, whole]));
  const intervals = kernels.map(({ interval }) => interval);
  let live: RangePeaks | undefined;
  for (const [index, whole] of kernels.entries()) {
    const parts = partsOf(whole, kernels);
    const isTaken = (i: number): boolean => found.has(i) || wholes.has(i) || isPlaced.has(i);
    if (parts.length === 0 || isPlaced.has(index) || parts.some(([i]) => isTaken(i))) continue;
    live ??= new RangePeaks(liveBytes(intervals, others));
    if (!reserve(live, whole.interval, { parts, intervals, steps: others.length })) continue;
    wholes.add(index);
    for (const [part, byteOffset] of parts) found.set(part, { whole: index, byteOffset });
  }
  return found;
}

type PartPlace = readonly [index: number, byteOffset: number];

/** Operands by their place in the result; none where they cannot be computed there. */
function partsOf({ interval, operands = [] }: Joinable, kernels: readonly Joinable[]): PartPlace[] {
  const parts: PartPlace[] = [];
  let byteOffset = 0;
  for (const index of operands) {
    const part = kernels[index];
    const bytes = part === undefined ? undefined : byteLengthOf(part.type);
    const isPart =
      typeof bytes === 'number' &&
      bytes > 0 &&
      byteOffset % ALIGNMENT === 0 &&
      part?.interval.isShared === true &&
      part.interval.storageClass === interval.storageClass &&
      part.interval.last <= interval.last &&
      !part.interval.reads.some((read) => operands.includes(read));
    if (!isPart) return [];
    parts.push([index, byteOffset]);
    byteOffset += bytes;
  }
  return new Set(operands).size === operands.length ? parts : [];
}

interface Reservation {
  readonly parts: readonly PartPlace[];
  readonly intervals: readonly TensorInterval[];
  readonly steps: number;
}

/** Reserves the whole from its first part on, unless more would be alive at once than without that. */
function reserve(
  live: RangePeaks,
  whole: TensorInterval,
  { parts, intervals, steps }: Reservation,
): boolean {
  const most = live.peak(0, steps - 1);
  const own = parts.flatMap(([i]) => intervals[i] ?? []);
  const begin = Math.min(...own.map(({ first }) => first));
  const change = (sign: number): void => {
    for (const { first, last, size = 0 } of own) {
      live.add(begin, first - 1, sign * size);
      live.add(whole.first, last, -sign * size);
    }
  };
  change(1);
  if (live.peak(begin, whole.first) <= most) return true;
  change(-1);
  return false;
}
