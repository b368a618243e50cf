import { type DType, isBigInt } from '../../core/dtype.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { rowMajorStrides, sameShape } from '../../core/shape.ts';
import {
  type AttributeSpec,
  defineOp,
  type NumberArray,
  type OpDefinition,
  type ScalarFunction,
  type Tolerance,
} from '../define-op.ts';
import { elementFunction } from '../formula/evaluate.ts';
import { arrayFunction } from '../formula/evaluate-arrays.ts';
import { broadcastStrides, gatherBroadcast } from './elementwise-reference.ts';
import type { OpCase } from '../op-cases.ts';
import { numberElements } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { commonDType, present } from '../operand-checks.ts';

/** What an elementwise operator states; the rest follows from its scalar function. */
export interface ElementwiseSpec<Name extends string = string> {
  readonly name: Name;
  readonly summary: string;
  readonly inputs: readonly { readonly name: string; readonly dtypes: readonly DType[] }[];
  readonly attributes?: Readonly<Record<string, AttributeSpec>>;
  /** The result's dtype; default that of the inputs, which then have to share one. */
  readonly output?: (dtypes: readonly DType[], attributes: Attributes) => DType;
  /** Inputs that have to share a dtype, by index; default all. */
  readonly sameDType?: readonly number[];
  readonly scalar: ScalarFunction;
  readonly tolerance?: Tolerance;
  readonly cases: () => readonly OpCase[];
  readonly badCases: () => readonly OpCase[];
}

/** Results that are exact on every device, such as comparisons and integer sums. */
export const EXACT: Tolerance = { rtol: 0, atol: 0 };

/** An operator whose output element depends on the inputs' elements there, after broadcasting. */
export function defineElementwise<const Name extends string>(
  spec: ElementwiseSpec<Name>,
): OpDefinition<Name> {
  const { name, summary, inputs, scalar, cases, badCases } = spec;
  const dtypeOf = spec.output ?? ((dtypes) => dtypes[0] ?? 'float32');
  return defineOp({
    name,
    kind: 'elementwise',
    summary,
    inputs,
    attributes: spec.attributes ?? {},
    infer(operands, attributes, dims) {
      const types = present(operands);
      const alike = spec.sameDType ?? types.map((_, index) => index);
      commonDType(
        types.filter((_, index) => alike.includes(index)),
        name,
      );
      const shapes = types.map((type) => type.shape);
      return {
        dtype: dtypeOf(
          types.map((type) => type.dtype),
          attributes,
        ),
        shape: dims.broadcast(shapes, name),
      };
    },
    reference: (operands, attributes, output) =>
      elementwiseReference(scalar, operands, { attributes, output }),
    scalar,
    tolerance: spec.tolerance ?? EXACT,
    cases,
    badCases,
  });
}

function elementwiseReference(
  scalar: ScalarFunction,
  operands: Operands<HostTensor>,
  { attributes, output }: { readonly attributes: Attributes; readonly output: HostTensor },
): void {
  const tensors = present(operands);
  if ([...tensors, output].some(({ dtype }) => isBigInt(dtype))) {
    wideReference(scalar, tensors, { attributes, output });
    return;
  }
  const target = numberElements(output);
  const arrays = tensors.map((tensor): NumberArray => {
    const elements = numberElements(tensor);
    if (sameShape(tensor.shape, output.shape)) return elements;
    const wide = numberElements(HostTensor.zeros(tensor.dtype, output.shape));
    gatherBroadcast({ elements, shape: tensor.shape }, output.shape, 0, wide);
    return wide;
  });
  const dtypes = tensors.map((tensor) => tensor.dtype);
  arrayFunction(scalar, { attributes, dtypes, output: output.dtype })(arrays, target);
}

/** Element by element, for calls in which int64 or uint64 takes part. */
function wideReference(
  scalar: ScalarFunction,
  tensors: readonly HostTensor[],
  { attributes, output }: { readonly attributes: Attributes; readonly output: HostTensor },
): void {
  const { elements, dtype } = output;
  const dtypes = tensors.map((tensor) => tensor.dtype);
  const evaluate = elementFunction(scalar, { attributes, dtypes, output: dtype });
  const sources = tensors.map((tensor) => {
    const strides = broadcastStrides(tensor.shape, output.shape);
    return { data: tensor.data, strides, isSame: sameShape(tensor.shape, output.shape) };
  });
  const steps = rowMajorStrides(output.shape);
  for (let i = 0; i < elements.length; i++) {
    const values = sources.map(({ data, strides, isSame }) => {
      const at = isSame ? i : offsetOf(i, steps, strides);
      return data[at] ?? 0;
    });
    const value = evaluate(values);
    if (elements instanceof BigInt64Array || elements instanceof BigUint64Array)
      elements[i] = BigInt(value);
    else elements[i] = Number(value);
  }
}

function offsetOf(index: number, steps: readonly number[], strides: readonly number[]): number {
  let rest = index;
  let offset = 0;
  for (const [axis, step] of steps.entries()) {
    const coord = Math.floor(rest / step);
    rest -= coord * step;
    offset += coord * (strides[axis] ?? 0);
  }
  return offset;
}
