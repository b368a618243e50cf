import type { FullType, FunctionEntry, ShapeStep, ValueType } from '../executable.ts';
import type { DraftConstant } from '../build/draft.ts';
import type { AttributeValue } from '../../core/contracts/primitive-function.ts';
import type { Dim, DimOperator } from '../../core/dims/dim.ts';

/**
 * Numbers of the file format; `docs/format.md` describes the layout. The first byte is not ASCII
 * and the line ends make a transfer in text mode visible.
 */
export const MAGIC = Uint8Array.of(0x89, 0x57, 0x45, 0x46, 0x54, 0x0d, 0x0a, 0x1a);

/** A reader refuses another major version, and a minor version above its own. */
export const FORMAT_MAJOR = 1;
export const FORMAT_MINOR = 2;

/** The first minor version whose primitive functions have flags. */
export const PRIMITIVE_FLAGS_MINOR = 1;

/** The first minor version that has a section of types, and builtins on floats. */
export const TYPES_MINOR = 2;

export const HEADER_BYTE_LENGTH = 64;
export const HEAD_HASH_OFFSET = 32;
export const HASH_BYTE_LENGTH = 32;
export const SECTION_ENTRY_BYTE_LENGTH = 12;
export const SECTION_ALIGNMENT = 8;

/** A reader skips sections with this bit that it does not know, and refuses all others. */
export const OPTIONAL_SECTION = 0x8000_0000;

/**
 * Sections of this version; each stands once, in this order, but for `types` and `sourceMap`, which may be absent.
 * Readers that do not know the source map skip it, so it needs no version of its own.
 */
export const SectionId = {
  functions: 1,
  code: 2,
  functionTable: 3,
  constants: 4,
  primitives: 5,
  shapePrograms: 6,
  metadata: 7,
  blockHashes: 8,
  types: 9,
  sourceMap: OPTIONAL_SECTION + 1,
} as const;

export type SectionName = keyof typeof SectionId;

/** Sections that a file may lack. */
export type RareSection = 'types' | 'sourceMap';

export const SECTION_NAMES: readonly SectionName[] = [
  'functions',
  'code',
  'functionTable',
  'constants',
  'primitives',
  'shapePrograms',
  'metadata',
  'blockHashes',
  'types',
  'sourceMap',
];

export const DEFAULT_BLOCK_BYTE_LENGTH = 2 ** 20;
export const MAX_BLOCK_BYTE_LENGTH = 2 ** 24;

/** Returns true if a data section may be cut into blocks of so many bytes. */
export function isBlockByteLength(byteLength: number): boolean {
  return byteLength % 256 === 0 && byteLength > 0 && byteLength <= MAX_BLOCK_BYTE_LENGTH;
}

/** The deepest nesting of a dimension expression. */
export const MAX_DIM_DEPTH = 200;

export const FUNCTION_KIND_CODES = {
  bytecode: 1,
  primitive: 2,
  packed: 3,
} as const satisfies Record<FunctionEntry['kind'], number>;

export const CONSTANT_CODES = {
  tensor: 1,
  shape: 2,
  string: 3,
  int: 4,
  float: 5,
  dtype: 6,
} as const satisfies Record<DraftConstant['kind'], number>;

/** Bits of the flags of a tensor constant. */
export const TENSOR_FLAGS = { splat: 1, host: 2 } as const;

export const PRIMITIVE_FLAGS = { host: 1, inPlace: 2 } as const;

export const VALUE_TYPE_CODES = {
  tensor: 1,
  int: 2,
  float: 3,
  any: 4,
} as const satisfies Record<ValueType['kind'], number>;

/** Types in full; the first ones are those of signatures. */
export const FULL_TYPE_CODES = {
  ...VALUE_TYPE_CODES,
  shape: 5,
  tuple: 6,
  adt: 7,
  function: 8,
  'type-param': 9,
  opaque: 10,
} as const satisfies Record<FullType['kind'], number>;

/** The deepest nesting of a type. */
export const MAX_TYPE_DEPTH = 500;

export const DIM_INTEGER = 1;
export const DIM_SYMBOL = 2;

/** Codes of dimension operators, in dimension expressions and in shape programs. */
export const DIM_OPERATOR_CODES = {
  add: 16,
  sub: 17,
  mul: 18,
  floordiv: 19,
  mod: 20,
  min: 21,
  max: 22,
} as const satisfies Record<DimOperator, number>;

export const SHAPE_STEP_CODES = {
  const: 1,
  load: 2,
  store: 3,
  ...DIM_OPERATOR_CODES,
} as const satisfies Record<ShapeStep['op'], number>;

export const ATTRIBUTE_CODES = {
  number: 1,
  string: 2,
  boolean: 3,
  numbers: 4,
  strings: 5,
  dims: 6,
} as const;

/**
 * The kind of an attribute value. An empty list counts as one of numbers; dimensions that are all
 * numbers or all symbols are a list of numbers or strings.
 */
export function attributeKind(value: AttributeValue): keyof typeof ATTRIBUTE_CODES {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  const items: readonly Dim[] = value;
  if (items.every((item) => typeof item === 'number')) return 'numbers';
  return items.every((item) => typeof item === 'string') ? 'strings' : 'dims';
}

/** The name that has a code in one of the tables above, or undefined. */
export function nameOfCode<Name extends string>(
  codes: Readonly<Record<Name, number>>,
  code: number,
): Name | undefined {
  for (const name in codes) if (codes[name] === code) return name;
  return undefined;
}

/** Returns true if bytes begin like an executable; the first 8 bytes decide. */
export function looksLikeExecutable(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}
