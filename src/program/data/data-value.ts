import { UsageError } from '../../core/errors.ts';
import type { Expr } from '../../compiler/ir/expr.ts';
import type { Type } from '../../compiler/ir/type.ts';
import type { OutputValue } from '../../client/values/session-value.ts';
import { siteOr } from '../call-site.ts';
import { type DataTree, dataToTree } from './data-tree.ts';
import type { Frame, TracedValue } from '../trace.ts';
import type { ConstructorSpecs, DataSpec } from './value-spec.ts';

/** Where a value of data is: in a program that is being written down, in the page, or still to come. */
type DataState =
  | { readonly kind: 'traced'; readonly value: TracedValue }
  | { readonly kind: 'given'; readonly value: Promise<OutputValue> }
  | { readonly kind: 'result'; readonly value: Promise<OutputValue> };

/** A value of an algebraic data type. `match` takes it apart in programs, {@link read} elsewhere. */
export class DataValue<C extends ConstructorSpecs = ConstructorSpecs> {
  /** Its type. */
  readonly spec: DataSpec<C>;
  /** @internal */
  readonly dataState: DataState;

  /** @internal */
  constructor(spec: DataSpec<C>, dataState: DataState) {
    this.spec = spec;
    this.dataState = dataState;
  }

  /**
   * Waits for the whole value: an object with the constructor as `is` beside its fields, arrays as `Tensor`.
   * Rejects with RuntimeError where the program fails.
   */
  async read(): Promise<DataTree> {
    const { kind, value } = this.dataState;
    if (kind === 'traced') {
      throw new UsageError({
        where: siteOr('read'),
        got: `a ${this.spec.name} in the body of a program`,
        expected: 'a result of a program',
        remedy: 'Take it apart by match.',
      });
    }
    return dataToTree(await value, this.spec);
  }
}

/** The value as the function that is being written down has it. Throws UsageError for a result. */
export function dataIn(frame: Frame, { dataState, spec }: DataValue): Expr {
  if (dataState.kind === 'traced') return frame.use(dataState.value);
  throw new UsageError({
    where: siteOr('program'),
    got: `a ${spec.name} that was made outside of the program`,
    expected: 'a parameter, or a value that the body makes',
    remedy: 'Make it a parameter.',
  });
}

/** A value of data of a program that is being written down. */
export function tracedData(
  spec: DataSpec,
  value: { expr: Expr; type: Type; frame: Frame },
): DataValue {
  return new DataValue(spec, { kind: 'traced', value });
}
