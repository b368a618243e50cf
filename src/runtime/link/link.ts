import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { BytecodeFunction, ExecutableData, FunctionEntry } from '../../bytecode/executable.ts';
import type { Instruction } from '../../bytecode/isa.ts';
import * as isa from '../../bytecode/isa.ts';
import { internalError, UsageError } from '../../core/errors.ts';
import { LinkedInstruction, type LinkedFunction, LinkedOp, NO_DESTINATION } from './linked-code.ts';
import type { FunctionLibrary } from './function-library.ts';
import {
  ClosureValue,
  type MachineValue,
  type PackedFunction,
  PackedFunctionValue,
  type Value,
} from '../values/value.ts';

const KILL_NAME = `${BUILTIN_PREFIX}kill`;
const INVOKE_NAME = `${BUILTIN_PREFIX}invoke_closure`;

/** An entry of the function table, resolved. */
type Callee = BytecodeCallee | PackedCallee;

interface BytecodeCallee {
  readonly kind: 'bytecode';
  readonly name: string;
  readonly index: number;
  /** See {@link LinkedInstruction.cost}. */
  readonly cost: number;
  /** See {@link LinkedFunction.isBorder}. */
  readonly isBorder: boolean;
}

interface PackedCallee {
  readonly kind: 'packed';
  readonly name: string;
  readonly call: PackedFunction;
  readonly cost: number;
}

export interface LinkOptions {
  /** Asked for primitives, in this order. */
  readonly kernelLibraries: readonly FunctionLibrary[];
  readonly builtins: FunctionLibrary;
  /** Asked for packed functions that are no builtins. */
  readonly hostFunctions: FunctionLibrary;
  readonly constants: readonly Value[];
  /** The value of `%vm`. */
  readonly machine: MachineValue;
}

export interface LinkedProgram {
  readonly functions: readonly LinkedFunction[];
  /** The table that negative operands index: `~operand`. */
  readonly constants: readonly Value[];
  readonly machine: MachineValue;
}

/**
 * Resolves every name of the function table once: the executable's own functions, builtins,
 * primitives by the kernel libraries in order, then the user's functions; and decodes all code.
 * Throws one UsageError that lists every name without a definition.
 */
export function link(program: ExecutableData, options: LinkOptions): LinkedProgram {
  const { machine } = options;
  const borders = bordersOf(program);
  const callees = resolveAll(program, borders, options);
  const constants = new ConstantTable(callees, options);
  const functions = program.functions.map((source, index) =>
    linkFunction(program, { source, index, callees, constants, borders }),
  );
  return { functions, constants: constants.values, machine };
}

function resolveAll(
  program: ExecutableData,
  borders: ReadonlySet<BytecodeFunction>,
  options: LinkOptions,
): Callee[] {
  const own = new Map<string, BytecodeCallee>();
  for (const [index, fn] of program.functions.entries()) {
    const { name, registerCount: cost } = fn;
    own.set(name, { kind: 'bytecode', name, index, cost, isBorder: borders.has(fn) });
  }
  const missing: string[] = [];
  const callees: Callee[] = [];
  for (const entry of program.functionTable) {
    const callee = resolve(entry, own, options);
    if (callee === undefined) missing.push(`${entry.name} (${entry.kind})`);
    else callees.push(callee);
  }
  if (missing.length === 0) return callees;
  throw new UsageError(
    {
      where: 'linking',
      got: `no definition of ${missing.join(', ')}`,
      expected: 'a definition of every function that the executable calls',
      remedy: 'Give them as `functions` where the program is loaded.',
    },
    { details: { missing } },
  );
}

/** Declarations of functions of the host: checks, one call of it, and no other calls. */
function bordersOf(program: ExecutableData): ReadonlySet<BytecodeFunction> {
  const { code, functions, functionTable } = program;
  if (!functionTable.some(isHostFunction)) return new Set();
  return new Set(
    functions.filter(({ codeStart, codeLength }) => {
      let count = 0;
      for (const { spec, operands } of isa.decodeRange(code, codeStart, codeStart + codeLength)) {
        if (spec.opcode !== isa.Opcode.call) continue;
        const entry = functionTable[isa.argumentValue(operands[1] ?? 0)];
        if (entry === undefined || entry.kind === 'bytecode' || entry.name === INVOKE_NAME)
          return false;
        if (isHostFunction(entry)) count++;
      }
      return count === 1;
    }),
  );
}

function isHostFunction({ kind, name }: FunctionEntry): boolean {
  return kind === 'packed' && !name.startsWith(BUILTIN_PREFIX);
}

function resolve(
  { kind, name }: FunctionEntry,
  own: ReadonlyMap<string, Callee>,
  { builtins, kernelLibraries, hostFunctions }: LinkOptions,
): Callee | undefined {
  if (kind === 'bytecode') return own.get(name);
  const isBuiltin = name.startsWith(BUILTIN_PREFIX);
  const named = isBuiltin ? builtins : hostFunctions;
  for (const library of kind === 'primitive' ? kernelLibraries : [named]) {
    const call = library.get(name);
    if (call !== undefined) return { kind: 'packed', name, call, cost: library.callCost(name) };
  }
  return undefined;
}

/** The constant pool, `null`, `%vm`, functions as values, and the immediates of all code. */
class ConstantTable {
  readonly values: Value[];
  readonly #firstFunction: number;
  readonly #immediates = new Map<number, number>();

  constructor(callees: readonly Callee[], { constants, machine }: LinkOptions) {
    this.#firstFunction = constants.length + 2;
    const functions = callees.map((callee) => functionValue(machine, callee));
    this.values = [...constants, null, machine, ...functions];
  }

  operand(word: number): number {
    const value = isa.argumentValue(word);
    switch (isa.argumentKind(word)) {
      case isa.ArgumentKind.register:
        if (value === isa.VOID_REGISTER) return ~(this.#firstFunction - 2);
        return value === isa.VM_REGISTER ? ~(this.#firstFunction - 1) : value;
      case isa.ArgumentKind.constant:
        return ~value;
      case isa.ArgumentKind.function:
        return ~(this.#firstFunction + value);
      default:
        return ~this.#immediate(value);
    }
  }

  #immediate(value: number): number {
    const known = this.#immediates.get(value);
    if (known !== undefined) return known;
    const index = this.values.push(value) - 1;
    this.#immediates.set(value, index);
    return index;
  }
}

function functionValue(machine: MachineValue, callee: Callee): Value {
  if (callee.kind === 'bytecode') return new ClosureValue(machine, callee.index);
  return new PackedFunctionValue(callee.name, callee.call);
}

interface FunctionLinking {
  readonly source: BytecodeFunction;
  readonly index: number;
  readonly callees: readonly Callee[];
  readonly constants: ConstantTable;
  readonly borders: ReadonlySet<BytecodeFunction>;
}

function linkFunction(program: ExecutableData, linking: FunctionLinking): LinkedFunction {
  const { source, index, borders } = linking;
  const end = source.codeStart + source.codeLength;
  const instructions = [...isa.decodeRange(program.code, source.codeStart, end)];
  const positions = new Map(instructions.map(({ pc }, position) => [pc, position]));
  const code = instructions.map((instruction, position) =>
    linkInstruction(instruction, {
      ...linking,
      positions,
      isTail: isTailCall(instructions, position, positions),
      killed: () => registersKilledAt(instructions, position + 1, linking.callees),
    }),
  );
  const { registerCount, paramNames } = source;
  const paramCount = paramNames.length;
  return { index, source, registerCount, paramCount, code, isBorder: borders.has(source) };
}

interface InstructionLinking extends FunctionLinking {
  readonly positions: ReadonlyMap<number, number>;
  readonly isTail: boolean;
  /** Registers that the instructions behind it do nothing but drop. */
  readonly killed: () => readonly number[];
}

function linkInstruction(instruction: Instruction, linking: InstructionLinking): LinkedInstruction {
  const { constants, positions } = linking;
  const { operands, pc: codeIndex } = instruction;
  const [first = 0, second = 0] = operands;
  const target = (offset: number): number =>
    positions.get(isa.jumpTarget(codeIndex, offset)) ?? lostTarget(codeIndex);
  switch (instruction.spec.opcode) {
    case isa.Opcode.call:
      return linkCall(instruction, linking);
    case isa.Opcode.ret:
      return new LinkedInstruction({
        op: LinkedOp.ret,
        codeIndex,
        args: [constants.operand(first)],
      });
    case isa.Opcode.if: {
      const args = [constants.operand(first)];
      return new LinkedInstruction({ op: LinkedOp.if, codeIndex, args, target: target(second) });
    }
    case isa.Opcode.goto:
      return new LinkedInstruction({ op: LinkedOp.goto, codeIndex, target: target(first) });
    default:
      throw internalError(`no linking for ${instruction.spec.name}`);
  }
}

function linkCall(instruction: Instruction, linking: InstructionLinking): LinkedInstruction {
  const [destinationWord = isa.VOID_REGISTER, calleeWord = 0, ...argumentWords] =
    instruction.operands;
  const { constants, callees, isTail, killed } = linking;
  const callee = callees[isa.argumentValue(calleeWord)];
  if (callee === undefined) throw internalError(`no function ${isa.argumentValue(calleeWord)}`);
  const destination = destinationWord === isa.VOID_REGISTER ? NO_DESTINATION : destinationWord;
  const args = argumentWords.map((word) => constants.operand(word));
  const cost = callee.cost + args.length;
  const fields = { destination, args, cost, codeIndex: instruction.pc };
  const moved = (): readonly number[] => killed().filter((register) => args.includes(register));
  if (callee.kind === 'bytecode') {
    // The frame of the call stays, so that errors of the host function can name its place.
    const op = isTail && !callee.isBorder ? LinkedOp.tailCall : LinkedOp.call;
    return new LinkedInstruction({ ...fields, op, callee: callee.index, moved: moved() });
  }
  if (callee.name === INVOKE_NAME) {
    const op = isTail ? LinkedOp.tailInvoke : LinkedOp.invoke;
    return new LinkedInstruction({ ...fields, op, moved: moved() });
  }
  return new LinkedInstruction({ ...fields, op: LinkedOp.packed, packed: callee.call });
}

/** Registers that a run of instructions drops from a position on. */
function registersKilledAt(
  instructions: readonly Instruction[],
  position: number,
  callees: readonly Callee[],
): readonly number[] {
  const killed: number[] = [];
  for (let at = position; ; at++) {
    const { spec, operands = [] } = instructions[at] ?? {};
    const [register = isa.VOID_REGISTER, callee = 0] = operands;
    const isKill =
      spec?.opcode === isa.Opcode.call && callees[isa.argumentValue(callee)]?.name === KILL_NAME;
    if (!isKill) return killed;
    killed.push(register);
  }
}

/**
 * Returns true if the instruction after a call, gotos followed, returns exactly the call's result.
 * False for a call whose result is dropped: there the caller returns null.
 */
function isTailCall(
  instructions: readonly Instruction[],
  position: number,
  positions: ReadonlyMap<number, number>,
): boolean {
  const call = instructions[position];
  if (call?.spec.opcode !== isa.Opcode.call || call.operands[0] === isa.VOID_REGISTER) return false;
  let next = instructions[position + 1];
  for (let jumps = 0; next?.spec.opcode === isa.Opcode.goto && jumps < 16; jumps++) {
    const at = positions.get(isa.jumpTarget(next.pc, next.operands[0] ?? 0));
    next = at === undefined ? undefined : instructions[at];
  }
  return next?.spec.opcode === isa.Opcode.ret && next.operands[0] === call.operands[0];
}

function lostTarget(codeIndex: number): never {
  throw internalError(`the jump at code word ${codeIndex} leaves its function`);
}
