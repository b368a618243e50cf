import { NO_FACTS } from '../../core/dims/dim-algebra.ts';
import type { DimFacts } from '../../core/dims/dim-bounds.ts';
import { isUnknownDim } from '../../core/dims/dim-symbols.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { ShapeError, UnsupportedError } from '../../core/errors.ts';
import type {
  Attributes,
  AttributeValue,
  TensorType,
} from '../../core/contracts/primitive-function.ts';
import type { DimCheck } from '../../core/dims/symbolic-dims.ts';
import { meterInForce } from '../../core/limits/work-meter.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { inferCall } from '../../ops/infer-call.ts';
import { formatType } from '../../ops/operand-checks.ts';
import type { Operator } from '../../ops/operator.ts';
import type { Operators } from '../../ops/operators.ts';
import { formatSpan, type Span } from '../ir/expr.ts';

interface AppliedOperator {
  readonly output: TensorType;
  /** Checks for when the program runs, because symbols leave them open. */
  readonly checks: readonly DimCheck[];
}

type Applied = WeakMap<Operators, WeakMap<DimFacts, Map<string, AppliedOperator>>>;

/**
 * A program repeats few calls many times, and passes ask for the types of what they rebuilt. Each compilation has its own:
 * what others did before changes no number of steps.
 */
const APPLIED = new WeakMap<object, Applied>();
const NO_METER = {};

const MAX_APPLIED = 4096;

interface ApplyOptions {
  /** Bounds of the symbols in the operands' types. */
  readonly facts?: DimFacts;
  /** Default: the core operators. */
  readonly operators?: Operators;
}

/** The type of an operator's result. Throws ShapeError or UnsupportedError. */
export function applyOperator(
  op: string,
  inputs: readonly TensorType[],
  attributes: Attributes,
  { facts = NO_FACTS, operators = CORE_OPERATORS }: ApplyOptions = {},
): AppliedOperator {
  const meter = meterInForce() ?? NO_METER;
  let applications = APPLIED.get(meter);
  if (applications === undefined) APPLIED.set(meter, (applications = new WeakMap()));
  let tables = applications.get(operators);
  if (tables === undefined) applications.set(operators, (tables = new WeakMap()));
  let known = tables.get(facts);
  if (known === undefined || known.size >= MAX_APPLIED) tables.set(facts, (known = new Map()));
  let key = op;
  for (const { dtype, shape } of inputs) key += ` ${dtype}${textOf(shape)}`;
  for (const name in attributes) key += ` ${name} ${textOf(attributes[name] ?? '')}`;
  let applied = known.get(key);
  if (applied === undefined) {
    const definition = operators.require(op);
    applied = inferCall(definition, inputs, attributes, facts);
    checkSizes(definition, inputs, applied.output);
    known.set(key, applied);
  }
  return applied;
}

/** A kernel writes a result of a known size. Throws ShapeError for a shape rule that knows none. */
function checkSizes(op: Operator, inputs: readonly TensorType[], output: TensorType): void {
  const isUnknown = ({ shape }: TensorType): boolean => shape.some(isUnknownDim);
  if (op.kind === 'dynamic' || op.composition !== undefined || !isUnknown(output)) return;
  if (inputs.some(isUnknown)) return;
  throw new ShapeError({
    where: op.name,
    got: `a result of ${formatType(output)}`,
    expected: 'sizes that follow from those of inputs, or the kind dynamic',
  });
}

/** Different for different values; JSON would write infinities and NaN alike. */
function textOf(value: AttributeValue | Dim): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if ('op' in value) return `(${textOf(value.left)} ${value.op} ${textOf(value.right)})`;
  // Nobody has checked it yet.
  if (!Array.isArray(value)) return JSON.stringify(value);
  let text = '[';
  for (const item of value) text += `${textOf(item)},`;
  return text;
}

/** The complaint of an operator with the node of the source model before it. */
export function atPlace(thrown: unknown, span: Span | undefined): unknown {
  if (span === undefined || !(thrown instanceof Error)) return thrown;
  const message = `${formatSpan(span, '')}: ${thrown.message}`;
  if (thrown instanceof ShapeError) return new ShapeError(message, { cause: thrown });
  if (thrown instanceof UnsupportedError) return new UnsupportedError(message, { cause: thrown });
  return thrown;
}
