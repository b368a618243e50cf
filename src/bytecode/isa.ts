import { brokenRule } from './verify/broken-rule.ts';

/**
 * The instruction set. Encode, decode, print, parse, verify and the builder all loop over
 * {@link ISA}; nothing else knows how an instruction is laid out.
 *
 * In words of 32 bits: the opcode, one word per operand, and for a variadic instruction a count
 * and as many words more.
 */
export interface InstructionSpec {
  readonly name: InstructionName;
  readonly opcode: number;
  readonly operands: readonly OperandSpec[];
  /** A repeated last operand; its count stands in the word before it. */
  readonly variadic?: OperandSpec;
  /** True if execution may go on with the next instruction. */
  readonly fallsThrough: boolean;
  /**
   * The text behind the name in a listing; `{x}` is operand x. A destination stands before the name,
   * as `%1 = call ...`, and is left out when it is `%void`.
   */
  readonly syntax: string;
}

export type InstructionName = 'call' | 'ret' | 'if' | 'goto';

export interface OperandSpec {
  readonly name: string;
  readonly kind: OperandKind;
}

/**
 * - `destination`: a register that is written, or `%void`;
 * - `callee`: a function;
 * - `condition`: a register that is read;
 * - `argument`: a register that is read, an immediate, a constant or a function;
 * - `offset`: a jump, signed, in words from the first word of the instruction.
 */
export type OperandKind = 'destination' | 'callee' | 'condition' | 'argument' | 'offset';

export const ISA: readonly InstructionSpec[] = [
  {
    name: 'call',
    opcode: 1,
    operands: [
      { name: 'result', kind: 'destination' },
      { name: 'callee', kind: 'callee' },
    ],
    variadic: { name: 'args', kind: 'argument' },
    fallsThrough: true,
    syntax: '{callee}({args})',
  },
  {
    name: 'ret',
    opcode: 2,
    operands: [{ name: 'value', kind: 'argument' }],
    fallsThrough: false,
    syntax: '{value}',
  },
  {
    name: 'if',
    opcode: 3,
    operands: [
      { name: 'condition', kind: 'condition' },
      { name: 'otherwise', kind: 'offset' },
    ],
    fallsThrough: true,
    syntax: '{condition} else {otherwise}',
  },
  {
    name: 'goto',
    opcode: 4,
    operands: [{ name: 'target', kind: 'offset' }],
    fallsThrough: false,
    syntax: '{target}',
  },
];

const BY_OPCODE = new Map(ISA.map((spec) => [spec.opcode, spec]));
const BY_NAME = new Map<string, InstructionSpec>(ISA.map((spec) => [spec.name, spec]));

export function instructionSpec(name: InstructionName): InstructionSpec;
export function instructionSpec(name: string): InstructionSpec | undefined;
export function instructionSpec(name: string): InstructionSpec | undefined {
  return BY_NAME.get(name);
}

export const Opcode = { call: 1, ret: 2, if: 3, goto: 4 } as const satisfies Record<
  InstructionName,
  number
>;

/** The kind of an argument word: its upper 4 bits. */
export const ArgumentKind = { register: 0, immediate: 1, constant: 2, function: 3 } as const;

export type ArgumentKindName = keyof typeof ArgumentKind;

export const ARGUMENT_KINDS: readonly ArgumentKindName[] = [
  'register',
  'immediate',
  'constant',
  'function',
];

/** The value of an argument word: its lower 28 bits; immediates are signed. */
const VALUE_BITS = 28;
const VALUE_MASK = 2 ** VALUE_BITS - 1;
export const MIN_IMMEDIATE = -(2 ** (VALUE_BITS - 1));
export const MAX_IMMEDIATE = 2 ** (VALUE_BITS - 1) - 1;

/** As a destination: the result is dropped. As an argument: null. */
export const VOID_REGISTER = VALUE_MASK;
/** As an argument of a packed function: the machine's own state. */
export const VM_REGISTER = VALUE_MASK - 1;
export const MAX_REGISTER_COUNT = 2 ** 20;

export function encodeArgument(kind: ArgumentKindName, value: number): number {
  return ((ArgumentKind[kind] << VALUE_BITS) | (value & VALUE_MASK)) >>> 0;
}

/** One of {@link ArgumentKind}; 4 to 15 in words that the verifier refuses. */
export function argumentKind(word: number): number {
  return word >>> VALUE_BITS;
}

/** A register, constant or function index, or the signed immediate. */
export function argumentValue(word: number): number {
  return argumentKind(word) === ArgumentKind.immediate ? (word << 4) >> 4 : word & VALUE_MASK;
}

export interface Instruction {
  readonly spec: InstructionSpec;
  /** Index of its first word in `code`. */
  readonly pc: number;
  /** Words that it takes. */
  readonly length: number;
  /** Words of the operands in the order of the table, then those of the variadic operand. */
  readonly operands: readonly number[];
}

/**
 * Decodes the instruction whose first word is `code[pc]`. Throws VerifyError for an unknown opcode
 * and when the instruction goes beyond `end`.
 */
export function decodeInstruction(code: Uint32Array, pc: number, end = code.length): Instruction {
  const opcode = code[pc] ?? 0;
  const spec = BY_OPCODE.get(opcode);
  if (spec === undefined) {
    throw brokenRule(
      `code word ${pc}`,
      `opcode ${opcode}`,
      ISA.map((known) => `${known.opcode} (${known.name})`).join(', '),
    );
  }
  let first = pc + 1;
  let length = 1 + spec.operands.length;
  if (spec.variadic !== undefined) {
    const count = pc + length < end ? (code[pc + length] ?? 0) : 0;
    length += 1 + count;
  }
  if (pc + length > end) {
    throw brokenRule(
      `code word ${pc}`,
      `a ${spec.name} of ${length} words`,
      `at most the ${end - pc} words that are left of the function`,
    );
  }
  const operands: number[] = [];
  for (const _ of spec.operands) operands.push(code[first++] ?? 0);
  for (first++; first < pc + length; first++) operands.push(code[first] ?? 0);
  return { spec, pc, length, operands };
}

/** The words of an instruction; the inverse of {@link decodeInstruction}, but for the sign of jumps. */
export function encodeInstruction(spec: InstructionSpec, operands: readonly number[]): number[] {
  const fixed = spec.operands.length;
  const count = spec.variadic === undefined ? [] : [operands.length - fixed];
  return [spec.opcode, ...operands.slice(0, fixed), ...count, ...operands.slice(fixed)];
}

/** The instructions of `code` from `start` up to `end`, in order. Throws as decodeInstruction. */
export function* decodeRange(
  code: Uint32Array,
  start: number,
  end: number,
): Generator<Instruction, void> {
  for (let pc = start; pc < end; ) {
    const instruction = decodeInstruction(code, pc, end);
    yield instruction;
    pc += instruction.length;
  }
}

/** The table's entry for operand `index` of an instruction. */
export function operandSpec(spec: InstructionSpec, index: number): OperandSpec {
  const found = spec.operands[index] ?? spec.variadic;
  if (found === undefined) throw new Error(`internal: ${spec.name} has no operand ${index}`);
  return found;
}

/** Absolute word index that an offset operand jumps to. */
export function jumpTarget(pc: number, offsetWord: number): number {
  return pc + (offsetWord | 0);
}
