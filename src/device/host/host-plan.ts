import { type DType, isBigInt, storageByteLength } from '../../core/tensor/dtype.ts';
import { concreteShape, formatDim } from '../../core/dims/dim.ts';
import { internalError, ShapeError, UnsupportedError } from '../../core/errors.ts';
import type {
  Attributes,
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { elementCount, formatShape, sameShape, type Shape } from '../../core/tensor/shape.ts';
import { bindAttributes } from '../../ops/bind-attributes.ts';
import type { Operator, OperatorTable } from '../../ops/operator.ts';
import { formatType } from '../../ops/operand-checks.ts';
import { KERNEL_DTYPES } from '../../ops/lowering/placement.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';

const LABELLED_CALL_COUNT = 16;

/** The host's steps for one primitive function on given shapes. */
export interface HostPlan {
  /** Types of all values: parameters, then results of calls. */
  readonly types: readonly ConcreteTensorType[];
  readonly steps: readonly HostStep[];
  /** Values that need memory of their own: neither arguments nor local to a chain. */
  readonly temporaries: readonly Temporary[];
  /** Bytes of the memory of temporaries, by slot. */
  readonly slots: readonly number[];
  /** Values that are others in another shape, with those: arguments, results or temporaries. */
  readonly views: ReadonlyMap<number, number>;
  /** Values that have memory: arguments, results, temporaries and views of them. */
  readonly stored: ReadonlySet<number>;
}

interface Temporary {
  readonly value: number;
  /** The slot of its memory, which another value takes once this one is no longer read. */
  readonly slot: number;
  /**
   * Present where the temporary may lie in the memory of the result, unless an argument lies there:
   * only the last step, which is elementwise, reads it, and reads each element where it writes one
   * of the same size. No other temporary has its slot.
   */
  readonly fitsResult?: true;
}

export type HostStep = CallStep | ChainStep;

/** One call of an operator's reference. */
export interface CallStep {
  readonly kind: 'call';
  readonly label: string;
  readonly call: PlannedCall;
}

/** Elementwise calls over one shape, to be run block by block. */
export interface ChainStep {
  readonly kind: 'chain';
  readonly label: string;
  readonly calls: readonly PlannedCall[];
}

export interface PlannedCall {
  readonly op: Operator;
  readonly attributes: Attributes;
  /** Values it reads; -1 for an absent input. */
  readonly inputs: readonly number[];
  readonly value: number;
}

/** The types of the parameters of a primitive function; undefined where a size is known only at a launch. */
export function concreteParams(primitive: PrimitiveFunction): ConcreteTensorType[] | undefined {
  const params: ConcreteTensorType[] = [];
  for (const { dtype, shape } of primitive.params) {
    const concrete = concreteShape(shape);
    if (concrete === undefined) return undefined;
    params.push({ dtype, shape: concrete });
  }
  return params;
}

/**
 * Infers the types of all values from those of the parameters and groups elementwise calls. Shapes of
 * results are needed where attributes name their symbols. Throws
 * UnsupportedError for an unknown operator and ShapeError for types that do not fit.
 */
export function planOnHost(
  primitive: PrimitiveFunction,
  params: readonly ConcreteTensorType[],
  { operators, results = [] }: { operators: OperatorTable; results?: readonly Shape[] },
): HostPlan {
  const types: ConcreteTensorType[] = [...params];
  const shapes = { params: params.map(({ shape }) => shape), results };
  const body = bindAttributes(primitive, shapes, operators);
  const calls = body.map(({ op: name, inputs, attributes }): PlannedCall => {
    const op = requireOperator(operators, name);
    const operands = inputs.map((value) => (value < 0 ? undefined : types[value]));
    const inferred = inferConcreteCall(op, operands, attributes);
    requireWalkable(inferred.output, name);
    types.push(inferred.output);
    return { op, attributes: inferred.attributes, inputs, value: types.length - 1 };
  });
  checkResults(primitive, types);
  const views = viewsOf(primitive, calls);
  const steps = groupCalls(calls, { types, views });
  const { temporaries, slots } = new TemporaryPlan(primitive, { types, steps, views }).plan();
  const stored = new Set([
    ...primitive.params.keys(),
    ...primitive.results.map(({ value }) => value),
    ...temporaries.map(({ value }) => value),
    ...views.keys(),
  ]);
  return { types, steps, temporaries, slots, views, stored };
}

/** A result has memory of its own. */
function viewsOf({ results }: PrimitiveFunction, calls: readonly PlannedCall[]) {
  const views = new Map<number, number>();
  for (const { op, inputs, value } of calls) {
    const [input = -1] = inputs;
    const isResult = results.some((result) => result.value === value);
    if (op.indexMap?.keepsOrder === true && !isResult) views.set(value, views.get(input) ?? input);
  }
  return views;
}

/** The operator of a name, which has been looked for when the primitive was prepared. */
export function requireOperator(operators: OperatorTable, name: string): Operator {
  const op = operators.get(name);
  if (op !== undefined) return op;
  throw internalError(`a primitive of operator ${name}, which the device does not have`);
}

/** References walk along dimensions even where another one is 0. */
function requireWalkable(type: ConcreteTensorType, op: string): void {
  const steps = elementCount(type.shape.map((dim) => Math.max(dim, 1)));
  if (elementCount(type.shape) > 0 || steps < 2 ** 32) return;
  throw new UnsupportedError({
    where: op,
    got: `a result ${formatType(type)}`,
    expected: 'less than 2^32 elements, not counting dimensions of 0',
  });
}

function checkResults(primitive: PrimitiveFunction, types: readonly ConcreteTensorType[]): void {
  for (const { value, type } of primitive.results) {
    const actual = types[value];
    if (actual === undefined) throw internalError(`${primitive.name} has no value ${value}`);
    const declared = concreteShape(type.shape);
    const fits = declared === undefined || sameShape(declared, actual.shape);
    if (fits && type.dtype === actual.dtype) continue;
    throw new ShapeError({
      where: 'result',
      got: formatType(actual),
      expected: `${type.dtype} ${formatShape(type.shape.map(formatDim))} as declared`,
    });
  }
}

function groupCalls(
  calls: readonly PlannedCall[],
  { types, views }: Pick<HostPlan, 'types' | 'views'>,
): HostStep[] {
  const steps: HostStep[] = [];
  let chain: PlannedCall[] = [];
  const shapeOf = ({ value }: PlannedCall) => types[value]?.shape ?? [];
  const made = new Set<number>();
  const endChain = (): void => {
    if (chain.length > 0) steps.push({ kind: 'chain', label: chainLabel(chain), calls: chain });
    chain = [];
    made.clear();
  };
  for (const call of calls) {
    const viewed = views.get(call.value);
    if (viewed !== undefined) {
      // A view needs the whole value that it views, so the chain which makes that value ends here.
      if (made.has(viewed)) endChain();
      continue;
    }
    const [first] = chain;
    const isWide = [...call.inputs, call.value].some((value) => {
      const type = types[value];
      return type !== undefined && !isChained(type.dtype);
    });
    const isElementwise = call.op.kind === 'elementwise' && !isWide;
    // A chain waits until something needs it, and so has more calls.
    const isEnd = isElementwise
      ? first !== undefined && !sameShape(shapeOf(first), shapeOf(call))
      : call.inputs.some((input) => made.has(input));
    if (isEnd) endChain();
    if (isElementwise) {
      chain.push(call);
      made.add(call.value);
    } else steps.push({ kind: 'call', label: call.op.name, call });
  }
  endChain();
  return steps;
}

/** Returns true if scalar functions compute elements of the dtype as numbers. */
function isChained(dtype: DType): boolean {
  return dtype === 'float64' || (KERNEL_DTYPES.has(dtype) && !isBigInt(dtype));
}

/** The operators, as many as a reader can take in. */
function chainLabel(calls: readonly PlannedCall[]): string {
  const names = calls.slice(0, LABELLED_CALL_COUNT).map(({ op }) => op.name);
  return calls.length > names.length ? `${names.join('+')}+…` : names.join('+');
}

/** Memory that temporaries have one after the other. */
interface Slot {
  byteLength: number;
  readonly values: number[];
}

/** Free slots that are looked at. */
const MOST_FREE = 8;

class TemporaryPlan {
  readonly #plan: Pick<HostPlan, 'types' | 'steps' | 'views'>;
  readonly #results: readonly number[];
  /** The steps that make values, and the last ones that read them, under whatever name. */
  readonly #maker = new Map<number, number>();
  readonly #lastRead = new Map<number, number>();

  constructor({ results }: PrimitiveFunction, plan: Pick<HostPlan, 'types' | 'steps' | 'views'>) {
    this.#plan = plan;
    this.#results = results.map(({ value }) => value);
    for (const [index, step] of plan.steps.entries()) {
      for (const { inputs, value } of callsOf(step)) {
        this.#maker.set(value, index);
        for (const input of inputs) this.#lastRead.set(this.#viewed(input), index);
      }
    }
  }

  /** The larger a slot, the lower its number: kernels share temporary memory by slots. */
  plan(): Pick<HostPlan, 'temporaries' | 'slots'> {
    const values = [...this.#maker.keys()].filter((value) => this.#needsMemory(value));
    const own = this.#fittingResult(values);
    const slots = this.#slots(values.filter((value) => value !== own));
    slots.sort((a, b) => b.byteLength - a.byteLength);
    const temporaries = slots.flatMap(({ values: held }, slot) =>
      held.map((value): Temporary => ({ value, slot })),
    );
    const lengths = slots.map(({ byteLength }) => byteLength);
    if (own !== undefined) {
      temporaries.push({ value: own, slot: slots.length, fitsResult: true });
      lengths.push(byteLengthOf(this.#plan.types[own]));
    }
    return { temporaries, slots: lengths };
  }

  /** Each value in the slot whose size is nearest, of those that are free. */
  #slots(values: readonly number[]): Slot[] {
    const slots: Slot[] = [];
    const freeAfter: Slot[][] = [];
    const free: Slot[] = [];
    let step = 0;
    for (const value of values) {
      const made = this.#maker.get(value) ?? 0;
      for (; step < made; step++) free.push(...(freeAfter[step] ?? []));
      const byteLength = byteLengthOf(this.#plan.types[value]);
      const misfit = (slot: Slot): number => Math.abs(slot.byteLength - byteLength);
      const [known] = free.slice(-MOST_FREE).sort((a, b) => misfit(a) - misfit(b));
      const slot = known ?? { byteLength, values: [] };
      if (known === undefined) slots.push(slot);
      else free.splice(free.indexOf(known), 1);
      slot.byteLength = Math.max(slot.byteLength, byteLength);
      slot.values.push(value);
      const last = this.#lastRead.get(value) ?? made;
      (freeAfter[last] ??= []).push(slot);
    }
    return slots;
  }

  #viewed(value: number): number {
    return this.#plan.views.get(value) ?? value;
  }

  #needsMemory(value: number): boolean {
    if (this.#results.includes(value)) return false;
    const made = this.#maker.get(value) ?? -1;
    return this.#plan.steps[made]?.kind === 'call' || (this.#lastRead.get(value) ?? made) > made;
  }

  /** See {@link Temporary.fitsResult}. */
  #fittingResult(values: readonly number[]): number | undefined {
    const { steps, types } = this.#plan;
    const [result = -1, ...others] = this.#results;
    const [last, type] = [steps.at(-1), types[result]];
    if (others.length > 0 || last?.kind !== 'chain' || type === undefined) return undefined;
    if (this.#maker.get(result) !== steps.length - 1) return undefined;
    const unfit = new Set(last.calls.map(({ value }) => value));
    for (const step of steps) {
      for (const input of callsOf(step).flatMap(({ inputs }) => inputs)) {
        const own = types[input];
        const isAtPlaces = own !== undefined && sameShape(own.shape, type.shape);
        if (step !== last || !isAtPlaces) unfit.add(this.#viewed(input));
      }
    }
    return values.find((value) => types[value]?.dtype === type.dtype && !unfit.has(value));
  }
}

const callsOf = (step: HostStep): readonly PlannedCall[] =>
  step.kind === 'chain' ? step.calls : [step.call];

/** How many bytes a value takes. */
export function byteLengthOf(type: ConcreteTensorType | undefined): number {
  return type ? storageByteLength(type.dtype, elementCount(type.shape)) : 0;
}
