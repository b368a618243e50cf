import type { DType } from '../../core/tensor/dtype.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import {
  type AttributeSpec,
  defineOp,
  type OpDefinition,
  type ScalarFunction,
  type Tolerance,
} from '../define-op.ts';
import { commonDType, present } from '../operand-checks.ts';

/** The statements of an elementwise operator; the rest follows from its scalar function. */
export interface ElementwiseSpec<Name extends string = string> {
  /** The name by which programs call it. */
  readonly name: Name;
  /** Its inputs, in order. */
  readonly inputs: readonly { readonly name: string; readonly dtypes: readonly DType[] }[];
  /** Its attributes, by name; default none. */
  readonly attributes?: Readonly<Record<string, AttributeSpec>>;
  /** The result's dtype; default that of the inputs, which then have to share one. */
  readonly output?: (dtypes: readonly DType[], attributes: Attributes) => DType;
  /** Inputs that have to share a dtype, by index; default all. */
  readonly sameDType?: readonly number[];
  /** The computation on one element of each input. */
  readonly scalar: ScalarFunction;
  /** Default: none, the result is exact. */
  readonly tolerance?: Tolerance;
}

/** Results that are exact on every device, such as comparisons and integer sums. */
export const EXACT: Tolerance = { rtol: 0, atol: 0 };

/** An operator whose output element depends on the inputs' elements there, after broadcasting. */
export function defineElementwise<const Name extends string>(
  spec: ElementwiseSpec<Name>,
): OpDefinition<Name> {
  const { name, inputs, scalar } = spec;
  const dtypeOf = spec.output ?? ((dtypes) => dtypes[0] ?? 'float32');
  return defineOp({
    name,
    kind: 'elementwise',
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
    scalar,
    tolerance: spec.tolerance ?? EXACT,
  });
}
