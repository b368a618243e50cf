import type { Attributes } from '../core/primitive-function.ts';

/** How an operator treats an input with room: with more elements along an axis than count. */
export interface RoomUse {
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
