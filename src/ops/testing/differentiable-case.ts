import { caseTensors } from '../../conformance/operator-conformance.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { smallFloatToNumber } from '../../core/tensor/small-floats.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import type { OpDefinition } from '../define-op.ts';
import { floatElements } from '../elements.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import type { OpCase, OpCaseInput } from '../op-cases.ts';
import { callReference } from './call-reference.ts';

/** A case of an operator at a place where it has derivatives, in double precision if the operator has that. */
export interface DifferentiableCase {
  readonly opCase: OpCase;
  /** Elements that single precision has too; undefined where the case leaves one out. */
  readonly inputs: readonly (HostTensor | undefined)[];
  readonly output: HostTensor;
}

/** Larger cases take too long on the host, which computes each of them many times. */
const MAX_ELEMENTS = 3000;

/** Inputs that other operators make of sizes, and which have no derivative. */
const TABLES: Readonly<Record<string, number>> = { dft: 1, resample: 1 };

export const isTable = (name: string, input: number): boolean => TABLES[name] === input;

/** A case with its values moved off kinks and ties, or why it is left out. */
export function differentiableCase(
  op: OpDefinition,
  given: OpCase,
  random: () => number,
): DifferentiableCase | { readonly leftOut: string } {
  const opCase = doubleCase(op, given, random);
  if (opCase === undefined) return { leftOut: 'values that are not finite, or extreme' };
  const size = opCase.inputs.reduce((sum, x) => sum + elementCount(x?.shape ?? []), 0);
  if (size > MAX_ELEMENTS) return { leftOut: `more than ${MAX_ELEMENTS} elements` };
  const inputs = caseTensors(opCase, random).map((input) => input && rounded(input));
  const output = callReference(op.name, inputs, opCase.attributes);
  if (!isFloat(output.dtype)) return { leftOut: 'a result that is no float' };
  if (!['float32', 'float64'].includes(output.dtype)) return { leftOut: 'a result of few bits' };
  return { opCase, inputs, output };
}

/** The case in double precision, where the operator has it; undefined where values are not finite. */
function doubleCase(op: OpDefinition, opCase: OpCase, random: () => number): OpCase | undefined {
  const isDouble = opCase.inputs.every((input, i) => {
    const spec = op.inputs[Math.min(i, op.inputs.length - 1)];
    return input === undefined || !isFloat(input.dtype) || spec?.dtypes.includes('float64');
  });
  const inputs: (OpCaseInput | undefined)[] = [];
  for (const given of opCase.inputs) {
    if (given === undefined || !isFloat(given.dtype)) {
      inputs.push(given);
      continue;
    }
    const input = given.dtype === 'bfloat16' ? inNumbers(given) : given;
    const { values } = input;
    if (values?.some((value) => !Number.isFinite(value) || Math.abs(value) > 1e6)) return undefined;
    inputs.push({
      ...input,
      dtype: isDouble ? 'float64' : 'float32',
      // Off kinks and ties, by a part of their size: single precision has to see it.
      ...(values === undefined || isTable(op.name, inputs.length)
        ? {}
        : { values: values.map((x) => x * 0.97 + random() * 0.013 * Math.max(1, Math.abs(x))) }),
    });
  }
  return { ...opCase, inputs };
}

/** A case of bfloat16 with values and range as numbers, which it states as bits. */
function inNumbers({ values, range, ...input }: OpCaseInput): OpCaseInput {
  const number = (bits: number): number => smallFloatToNumber(input.dtype, bits);
  return {
    ...input,
    ...(values && { values: values.map(number) }),
    ...(range && { range: [number(range[0]), number(range[1])] }),
  };
}

/** Numbers in [-1, 1) that single precision has, in place of floats; all else as it is. */
export function randomLike(tensor: HostTensor, random: () => number): HostTensor {
  const { dtype, shape, elementCount: length } = tensor;
  if (!isFloat(dtype)) return tensor;
  return HostTensor.from(
    dtype,
    shape,
    Array.from({ length }, () => Math.fround(random() * 2 - 1)),
  );
}

function rounded(tensor: HostTensor): HostTensor {
  if (tensor.dtype !== 'float64') return tensor;
  const values = [...floatElements(tensor)].map(Math.fround);
  return HostTensor.from('float64', tensor.shape, values);
}
