import type { KindOf } from '../../core/contracts/value-fold.ts';
import type { MachineForms } from '../machine-side.ts';

/**
 * Numbers of the snapshot format; `docs/snapshots.md` describes the layout. The first byte is not
 * ASCII and the line ends make a transfer in text mode visible.
 */
export const MAGIC = Uint8Array.of(0x89, 0x57, 0x46, 0x53, 0x4e, 0x0d, 0x0a, 0x1a);

/** A reader refuses another major version, and a minor version above its own. */
export const FORMAT_MAJOR = 1;
export const FORMAT_MINOR = 1;

export const HEADER_BYTE_LENGTH = 64;
/** The byte offset of the hash in the header. */
export const HASH_OFFSET = 32;
export const HASH_BYTE_LENGTH = 32;
export const SECTION_ALIGNMENT = 8;
/** Contents of each storage begin at a multiple of this in the section `data`. */
export const STORAGE_ALIGNMENT = 8;

/** Each stands once, in this order. */
export const SectionId = {
  program: 1,
  functions: 2,
  values: 3,
  calls: 4,
  roots: 5,
  states: 6,
  note: 7,
  data: 8,
} as const;

export type SectionName = keyof typeof SectionId;

export const SECTION_NAMES: readonly SectionName[] = [
  'program',
  'functions',
  'values',
  'calls',
  'roots',
  'states',
  'note',
  'data',
];

/** The content of a register or field: the value, or the number of an entry of `values` before it. */
export const OperandCode = { null: 0, int: 1, string: 2, value: 3 } as const satisfies Record<
  ImmediateKind | 'value',
  number
>;

type ImmediateKind = 'null' | 'int' | 'string';

/** Entries of `values`: the kinds of value, and what the executable has already. */
export type EntryKind =
  | Exclude<KindOf<MachineForms>, ImmediateKind | 'opaque'>
  | 'constant'
  | 'pitched'
  | 'tableFunction';

export const ValueCode = {
  float: 1,
  dtype: 2,
  shape: 3,
  storage: 4,
  tensor: 5,
  constant: 6,
  adt: 7,
  closure: 8,
  /** An entry of the executable's function table. */
  tableFunction: 9,
  /** A packed function by its number in `functions`. */
  packed: 10,
  heap: 11,
  vm: 12,
  /** A tensor with room along an axis: as a tensor, the axis and how much of it there may be. */
  pitched: 13,
} as const satisfies Record<EntryKind, number>;
