import type { OpaqueValue } from '../core/contracts/opaque-value.ts';
import type { ValueSide } from '../core/contracts/value-fold.ts';
import {
  AdtValue,
  type ClosureValue,
  type DTypeValue,
  type FloatValue,
  type MachineValue,
  type PackedFunctionValue,
  type ShapeHeap,
  type ShapeValue,
  type StorageValue,
  type TensorValue,
} from './values/value.ts';

/** The class of {@link Value} for each kind of value. */
export interface MachineForms {
  readonly null: null;
  readonly int: number;
  readonly float: FloatValue;
  readonly string: string;
  readonly dtype: DTypeValue;
  readonly shape: ShapeValue;
  readonly tensor: TensorValue;
  readonly handle: never;
  readonly adt: AdtValue;
  readonly closure: ClosureValue;
  readonly packed: PackedFunctionValue;
  readonly opaque: OpaqueValue;
  readonly storage: StorageValue;
  readonly heap: ShapeHeap;
  readonly vm: MachineValue;
}

/** Values of a machine, as walks see them: of ADT values the fields come first. */
export const MACHINE_SIDE: ValueSide<MachineForms> = {
  kindOf: (value) => {
    if (value === null) return 'null';
    if (typeof value === 'number') return 'int';
    return typeof value === 'string' ? 'string' : value.kind;
  },
  partsOf: (value) => (value instanceof AdtValue ? value.fields : undefined),
};
