import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { boolAttribute } from '../attributes.ts';
import { axisOf } from '../indexing/tensor-scatter.ts';
import type { KernelOpName } from './kernel-ops.ts';

/** How an operator treats an input with room: with more elements along an axis than count. */
interface RoomUse {
  /**
   * The axis along which the input that it overwrites may have more: it changes the same elements then. Undefined where
   * the result depends on how many there are. Attributes are complete.
   */
  changedAxis?(attributes: Attributes, rank: number): number | undefined;
  /** Inputs of which the first elements along an axis count alone if an attribute says how many, `[n]`. */
  readonly prefix?: {
    readonly inputs: readonly number[];
    readonly axis: number;
    readonly attribute: string;
  };
}

/** The core operators that allow room after the elements of an input; only the compiler asks. */
export const OPERATOR_ROOM: Readonly<Record<string, RoomUse>> = {
  cached_attention: { prefix: { inputs: [1, 2], axis: 2, attribute: 'keys' } },
  scaled_dot_product_attention: { prefix: { inputs: [1, 2], axis: 2, attribute: 'keys' } },
  tensor_scatter: {
    changedAxis: (attributes, rank) =>
      boolAttribute(attributes, 'circular') ? undefined : axisOf(attributes, rank),
  },
} satisfies Partial<Record<KernelOpName, RoomUse>>;
