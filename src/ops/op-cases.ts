import type { DType } from '../core/tensor/dtype.ts';
import type { Attributes } from '../core/contracts/primitive-function.ts';
import type { Shape } from '../core/tensor/shape.ts';

/** One generated test: inputs are filled from a seeded source unless given. */
export interface OpCase {
  /** Its name in reports. */
  readonly title: string;
  /** Its inputs; undefined for one that is left out. */
  readonly inputs: readonly (OpCaseInput | undefined)[];
  /** Attributes of the call. */
  readonly attributes?: Attributes;
}

export interface OpCaseInput {
  readonly dtype: DType;
  readonly shape: Shape;
  /** Half-open range for random data; default [-2, 2) for floats, [-8, 8) for ints. */
  readonly range?: readonly [number, number];
  /** All elements, row by row; absent: random ones. */
  readonly values?: readonly number[];
}

/** The part of an operator that tests and the documentation read; nothing that ships has it. */
export interface OpCases {
  /** One sentence for the operator table. */
  readonly summary: string;
  /** Odd, tiny, zero-size and large shapes; every attribute off its default at least once. */
  cases(): readonly OpCase[];
  /** Calls that `infer` must refuse, for snapshots of the messages. */
  badCases(): readonly OpCase[];
}
