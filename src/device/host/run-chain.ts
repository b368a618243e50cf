import { computedDType, type DType } from '../../core/tensor/dtype.ts';
import { internalError } from '../../core/errors.ts';
import { decodeFloat16, encodeFloat16 } from '../../core/tensor/float16-arrays.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount, sameShape } from '../../core/tensor/shape.ts';
import type { NumberArray } from '../../ops/define-op.ts';
import { gatherBroadcast } from '../../ops/elementwise/gather-broadcast.ts';
import {
  type ArrayFunction,
  arrayFunction,
  elementLoop,
} from '../../ops/formula/host/evaluate-arrays.ts';
import type { FormulaCall } from '../../ops/formula/expression.ts';
import type { Operator } from '../../ops/operator.ts';
import { staticReference } from '../../ops/tables/references.ts';
import type { ChainStep, PlannedCall } from './host-plan.ts';
import { newElements, type StoredTensor, storedElements } from './storage-view.ts';

/** Elements per block: all operands of a call fit the first cache. */
const BLOCK = 2048;

/**
 * Runs elementwise calls over one shape block by block, so that what one call makes is still in the
 * cache when the next reads it, and values that stay inside need no memory of their own.
 */
export function runChain(
  step: ChainStep,
  values: readonly (StoredTensor | undefined)[],
  types: readonly ConcreteTensorType[],
): void {
  const shape = types[step.calls[0]?.value ?? -1]?.shape ?? [];
  const count = elementCount(shape);
  const block = Math.min(BLOCK, count);
  const used = new Set(step.calls.flatMap(({ inputs, value }) => [...inputs, value]));
  // Other values of the primitive may be of dtypes that scalar functions do not compute with.
  const elements = values.map((stored, value) =>
    stored === undefined || !used.has(value) ? undefined : computedElements(stored),
  );
  const local = new Map<number, NumberArray>();
  for (const { value } of step.calls) {
    const type = types[value];
    if (type !== undefined && values[value] === undefined) {
      local.set(value, newElements(computedDType(type.dtype), block));
    }
  }
  const calls = step.calls.map((call) => prepareCall(call, { types, elements, local, block }));
  for (let start = 0; start < count; start += block) {
    const length = Math.min(block, count - start);
    for (const { apply, read, write, rounds } of calls) {
      const operands = read.map((source) => source(start, length));
      const output = write(start, length);
      apply(operands, output);
      if (rounds) roundToFloat16(output);
    }
  }
  for (const { value } of step.calls) {
    const stored = values[value];
    const computed = elements[value];
    if (stored?.dtype !== 'float16' || computed === undefined) continue;
    encodeFloat16(computed, new Uint16Array(stored.bytes, stored.byteOffset, count));
  }
}

/** The elements as scalar functions take them: float16 decoded, in memory of its own. */
function computedElements(stored: StoredTensor): NumberArray {
  const elements = storedElements(stored);
  return stored.dtype === 'float16' ? decodeFloat16(elements) : elements;
}

/** A conversion rounds; what stays float16 keeps the precision of float32 until it is stored. */
function isRounding(dtypes: readonly DType[], output: DType): boolean {
  return output === 'float16' && !dtypes.includes('float16');
}

function roundToFloat16(values: NumberArray): void {
  for (let i = 0; i < values.length; i++) {
    values[i] = float16ToNumber(numberToFloat16(values[i] ?? 0));
  }
}

/** Elements `start` to `start + length` of a value, broadcast to the chain's shape. */
type BlockSource = (start: number, length: number) => NumberArray;

interface PreparedCall {
  readonly apply: ArrayFunction;
  readonly read: readonly BlockSource[];
  readonly write: BlockSource;
  readonly rounds: boolean;
}

interface ChainMemory {
  readonly types: readonly ConcreteTensorType[];
  /** Whole values that lie in memory. */
  readonly elements: readonly (NumberArray | undefined)[];
  /** One block of each value that only this chain knows. */
  readonly local: ReadonlyMap<number, NumberArray>;
  readonly block: number;
}

function prepareCall(call: PlannedCall, memory: ChainMemory): PreparedCall {
  const output = memory.types[call.value];
  if (output === undefined) throw internalError(`value ${call.value} has no type`);
  const inputs = call.inputs.filter((value) => value >= 0);
  const dtypes = inputs.map((value) => memory.types[value]?.dtype ?? 'float32');
  return {
    apply: functionOf(call, memory.block, { dtypes, output: output.dtype }),
    read: inputs.map((value) => blockSource(value, output, memory)),
    write: blockSource(call.value, output, memory),
    rounds: isRounding(dtypes, output.dtype),
  };
}

/** Functions of planned calls, made with the first launch: a plan has them, their types and their blocks alone. */
const FUNCTIONS = new WeakMap<PlannedCall, ArrayFunction>();

function functionOf(
  planned: PlannedCall,
  block: number,
  { dtypes, output }: Pick<FormulaCall, 'dtypes' | 'output'>,
): ArrayFunction {
  let made = FUNCTIONS.get(planned);
  if (made === undefined) {
    const { op, attributes } = planned;
    const call = { attributes, dtypes: dtypes.map(computedDType), output: computedDType(output) };
    made = arraysOf(op, call, block);
    FUNCTIONS.set(planned, made);
  }
  return made;
}

function arraysOf(op: Operator, call: FormulaCall, block: number): ArrayFunction {
  const { name, scalar } = op;
  if (scalar?.formula !== undefined) return arrayFunction(scalar.formula, call, block);
  const { element } = staticReference(op);
  if (element === undefined) throw internalError(`${name} has no scalar function`);
  return elementLoop((operands) => element(operands, call));
}

function blockSource(
  value: number,
  { shape }: ConcreteTensorType,
  { types, elements, local, block }: ChainMemory,
): BlockSource {
  const own = local.get(value);
  if (own !== undefined) {
    return (_, length) => (length === own.length ? own : own.subarray(0, length));
  }
  const whole = elements[value];
  const type = types[value];
  if (whole === undefined || type === undefined)
    throw internalError(`value ${value} has no memory`);
  if (sameShape(type.shape, shape)) {
    return (start, length) => whole.subarray(start, start + length);
  }
  const spread = newElements(computedDType(type.dtype), block);
  if (whole.length === 1) {
    spread.fill(whole[0] ?? 0);
    return (_, length) => spread.subarray(0, length);
  }
  return (start, length) => {
    const target = spread.subarray(0, length);
    gatherBroadcast({ elements: whole, shape: type.shape }, shape, start, target);
    return target;
  };
}
