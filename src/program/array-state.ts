import type { Dim } from '../core/dims/dim.ts';
import type { DType } from '../core/tensor/dtype.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { UsageError } from '../core/errors.ts';
import { variableOf, constant } from '../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../compiler/ir/expr.ts';
import { formatType, type TensorTypeNode, tensorType } from '../compiler/ir/type.ts';
import type { DeviceTensor } from '../client/values/device-tensor.ts';
import type { Tensor } from '../client/values/tensor.ts';
import { siteOr } from './call-site.ts';
import { currentFrame, type Frame, type TracedValue } from './trace.ts';

/** The elements of an eager array: in the page, on a device, or on their way there. */
export interface ArrayData {
  /** The elements in the page, once they are there. */
  readonly host?: Tensor | undefined;
  /** The elements on a device, once they are or will be there. */
  device?: Promise<DeviceTensor> | undefined;
  /** How many runs read those of the page. */
  runs: number;
  /** Runs that read it and have not begun. */
  readonly readers: Set<Promise<unknown>>;
}

/** Elements of eager arrays by the variables that stand for them in expressions. */
export const DATA = new WeakMap<VarExpr, ArrayData>();

/** The states of what is not computed yet, by their expressions. */
export const PENDING = new WeakMap<Expr, WeakRef<ArrayState>>();

/** Fewer users of an array are not looked through for those that are gone. */
export const LEAST_USERS = 64;

/**
 * The state of an array: an expression of a program that is being written down, or an eager value.
 */
export class ArrayState implements TracedValue {
  readonly type: TensorTypeNode;
  readonly frame: Frame | undefined;
  /** Of an eager array a variable as soon as its computation has begun. */
  expr: Expr;
  /** Calls from here to elements that exist. */
  depth: number;
  isDisposed = false;
  /** Eager arrays that are computed of it. */
  readonly users: WeakRef<ArrayState>[] = [];
  /** They are looked through for those that are gone when there are so many. */
  mostUsers = LEAST_USERS;
  /** Its computation began without it: whoever uses it after all tells that by a call. */
  onUse: (() => void) | undefined;

  constructor(
    { expr, type, frame }: { expr: Expr; type: TensorTypeNode; frame: Frame | undefined },
    depth = 0,
  ) {
    this.expr = expr;
    this.type = type;
    this.frame = frame;
    this.depth = depth;
  }

  /** The elements that the page gave, which nobody has to wait for. */
  get given(): Pick<Tensor, 'data' | 'shape'> | undefined {
    return this.expr.kind === 'constant' ? this.expr.value : this.data?.host;
  }

  /** The elements, where there are some. */
  get data(): ArrayData | undefined {
    return this.expr.kind === 'var' ? DATA.get(this.expr) : undefined;
  }
}

/** An object with such a state: an array. */
export interface HasState {
  readonly dtype: DType;
  /** Its sizes, the outermost first. */
  readonly shape: readonly Dim[];
  readonly ndim: number;
  /** @internal */
  readonly state: ArrayState;
}

export function hasState(value: unknown): value is HasState {
  return (
    typeof value === 'object' &&
    value !== null &&
    'state' in value &&
    value.state instanceof ArrayState
  );
}

/** An eager array whose elements are, or will be, there. */
export function leafState(
  type: TensorTypeNode,
  data: Pick<ArrayData, 'host' | 'device'>,
): ArrayState {
  return new ArrayState({ expr: leafExpr(type, data), type, frame: undefined });
}

/** Arrays of any two places may meet in one computation, so all of a page have different names. */
let leafCount = 0;

/** The variable that stands for elements. */
export function leafExpr(type: TensorTypeNode, data: Pick<ArrayData, 'host' | 'device'>): VarExpr {
  // Those of one computation are its parameters, which have different names.
  const variable = variableOf(`x${leafCount++}`, type);
  DATA.set(variable, { ...data, runs: 0, readers: new Set() });
  return variable;
}

/** An array of elements of the page: a constant of the program that is being written down, or eager. */
export function stateOfTensor(tensor: Tensor): ArrayState {
  const frame = currentFrame();
  const type = tensorType(tensor);
  if (frame === undefined) return leafState(type, { host: tensor });
  return new ArrayState({ expr: constantOf(tensor), type, frame });
}

function constantOf({ dtype, shape, data }: Tensor): Expr {
  return constant(new HostTensor(dtype, shape, data));
}

/** The array in the function that is being written down. Throws UsageError for one of the device. */
export function exprIn(frame: Frame, state: ArrayState): Expr {
  requireLive(state);
  if (state.frame !== undefined) return frame.use(state);
  const host = state.data?.host;
  if (host !== undefined) return constantOf(host);
  throw new UsageError({
    where: siteOr('program'),
    got: `an array of ${formatType(state.type)} whose elements are on a device`,
    expected: 'parameters, and arrays whose elements are in the page',
    remedy: 'Make it a parameter, or write array(await x.read()) before.',
  });
}

/** Throws UsageError for an array that was disposed of. */
export function requireLive(state: ArrayState): void {
  if (!state.isDisposed) return;
  throw new UsageError({
    where: siteOr('array'),
    got: 'an array that was disposed of',
    expected: 'one that is in use',
    remedy: 'Dispose of it after its last use, or return it from the scope.',
  });
}

/** Elements are not freed before a run that reads them has begun, or failed to. */
export function addReader({ readers }: ArrayData, work: Promise<unknown>): void {
  readers.add(work);
  const forget = (): void => void readers.delete(work);
  work.then(forget, forget);
}

/** The elements of a leaf of an eager computation. */
export function dataOf(leaf: VarExpr): ArrayData {
  const data = DATA.get(leaf);
  if (data !== undefined) return data;
  throw new UsageError({
    where: siteOr('program'),
    got: 'an array of the body of a program, outside of it',
    expected: 'an array that a program gave',
    remedy: 'Return it from the body.',
  });
}
