import { type DType, isBigInt } from '../../core/dtype.ts';
import { concreteShape, formatDim } from '../../core/dim.ts';
import { internalError, ShapeError, UnsupportedError } from '../../core/errors.ts';
import type {
  Attributes,
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/primitive-function.ts';
import { elementCount, formatShape, sameShape, type Shape } from '../../core/shape.ts';
import { bindAttributes } from '../../ops/bind-attributes.ts';
import type { Operator, OperatorTable } from '../../ops/operator.ts';
import { formatType } from '../../ops/operand-checks.ts';
import { KERNEL_DTYPES } from '../../ops/placement.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';

const LABELLED_CALL_COUNT = 16;

/** The host's steps for one primitive function on given shapes. */
export interface HostPlan {
  /** Types of all values: parameters, then results of calls. */
  readonly types: readonly ConcreteTensorType[];
  readonly steps: readonly HostStep[];
  /** Values that need memory of their own: neither arguments nor local to a chain. */
  readonly temporaries: readonly number[];
  /** Values that have memory: arguments, results and temporaries. */
  readonly stored: ReadonlySet<number>;
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
  /** The value it makes. */
  readonly value: number;
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
  const steps = groupCalls(calls, types);
  const temporaries = temporariesOf(primitive, steps);
  const stored = new Set([
    ...primitive.params.keys(),
    ...primitive.results.map(({ value }) => value),
    ...temporaries,
  ]);
  return { types, steps, temporaries, stored };
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
  types: readonly ConcreteTensorType[],
): HostStep[] {
  const steps: HostStep[] = [];
  let chain: PlannedCall[] = [];
  const shapeOf = ({ value }: PlannedCall) => types[value]?.shape ?? [];
  const endChain = (): void => {
    if (chain.length > 0) steps.push({ kind: 'chain', label: chainLabel(chain), calls: chain });
    chain = [];
  };
  for (const call of calls) {
    const [first] = chain;
    const isWide = [...call.inputs, call.value].some((value) => {
      const type = types[value];
      return type !== undefined && !isChained(type.dtype);
    });
    const isElementwise = call.op.kind === 'elementwise' && !isWide;
    if (!isElementwise || (first !== undefined && !sameShape(shapeOf(first), shapeOf(call)))) {
      endChain();
    }
    if (isElementwise) chain.push(call);
    else steps.push({ kind: 'call', label: call.op.name, call });
  }
  endChain();
  return steps;
}

/** Whether scalar functions compute the dtype as numbers. */
function isChained(dtype: DType): boolean {
  return dtype === 'float64' || (KERNEL_DTYPES.has(dtype) && !isBigInt(dtype));
}

/** The operators, as many as a reader can take in. */
function chainLabel(calls: readonly PlannedCall[]): string {
  const names = calls.slice(0, LABELLED_CALL_COUNT).map(({ op }) => op.name);
  return calls.length > names.length ? `${names.join('+')}+…` : names.join('+');
}

function temporariesOf(primitive: PrimitiveFunction, steps: readonly HostStep[]): number[] {
  const results = new Set(primitive.results.map(({ value }) => value));
  const stepOf = new Map<number, HostStep>();
  const needed = new Set<number>();
  for (const step of steps) {
    for (const { inputs, value } of step.kind === 'chain' ? step.calls : [step.call]) {
      stepOf.set(value, step);
      if (step.kind === 'call' && !results.has(value)) needed.add(value);
      for (const input of inputs) {
        const maker = stepOf.get(input);
        if (maker !== undefined && maker !== step && !results.has(input)) needed.add(input);
      }
    }
  }
  return [...needed];
}
