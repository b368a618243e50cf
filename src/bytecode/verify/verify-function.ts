import { VerifyError } from '../../core/errors.ts';
import { brokenRule } from './broken-rule.ts';
import type { BytecodeFunction, ExecutableData } from '../executable.ts';
import type { Instruction, OperandKind } from '../isa.ts';
import * as isa from '../isa.ts';
import { withArticle } from '../text/text-format.ts';
import { type CallTables, verifyCall } from './verify-call.ts';
import { type FlowBudget, type FlowInstruction, verifyFlow } from './verify-flow.ts';

interface FunctionToVerify {
  readonly program: ExecutableData;
  readonly fn: BytecodeFunction;
  readonly tables: CallTables;
  readonly budget: FlowBudget;
}

/** Checks the code of one function; its range lies within `code`. Throws VerifyError. */
export function verifyFunction(job: FunctionToVerify): void {
  const { program, fn } = job;
  verifyRegisterCount(fn);
  const end = fn.codeStart + fn.codeLength;
  const instructions = [...isa.decodeRange(program.code, fn.codeStart, end)];
  const indexOfPc = new Map(instructions.map(({ pc }, index) => [pc, index]));
  const place = (index: number): string => describePlace(job, instructions[index], index);
  const mentioned = new Uint8Array(fn.registerCount);
  const flow = instructions.map((instruction, index): FlowInstruction => {
    const facts = verifyOperands(instruction, { job, indexOfPc, mentioned, index, place });
    const next = instruction.spec.fallsThrough ? [...facts.jumps, index + 1] : facts.jumps;
    const heaps = verifyCall(instruction, { ...job, where: () => place(index) });
    return { reads: facts.reads, write: facts.write, next, ...heaps };
  });
  const last = instructions.length - 1;
  if (instructions[last]?.spec.fallsThrough === true) {
    throw brokenRule(
      place(last),
      'code that runs past its end',
      'a ret or goto as the last instruction',
    );
  }
  verifyDense(fn, mentioned);
  verifyWritten(fn, flow, place);
  const paramCount = fn.paramNames.length;
  verifyFlow(flow, { paramCount, registerCount: fn.registerCount, place, budget: job.budget });
}

function verifyRegisterCount({
  name,
  paramNames,
  registerCount,
  codeLength,
}: BytecodeFunction): void {
  const most = Math.min(isa.MAX_REGISTER_COUNT, paramNames.length + codeLength);
  if (registerCount >= paramNames.length && registerCount <= most) return;
  throw new VerifyError({
    where: `function ${name}`,
    got: `${registerCount} registers`,
    expected: `from ${paramNames.length}, its parameters, to ${most}, which its code can name`,
    remedy: 'ExecBuilder renumbers registers in order of use.',
  });
}

function verifyDense(fn: BytecodeFunction, mentioned: Uint8Array): void {
  const unused = mentioned.findIndex((flag, index) => flag === 0 && index >= fn.paramNames.length);
  if (unused < 0) return;
  throw new VerifyError({
    where: `function ${fn.name}`,
    got: `${fn.registerCount} registers, of which the code never names %${unused}`,
    expected: 'registers numbered without gaps',
    remedy: 'ExecBuilder renumbers registers in order of use.',
  });
}

/** Unreachable code is held to this too; the flow analysis does not see it. */
function verifyWritten(
  { paramNames }: BytecodeFunction,
  flow: readonly FlowInstruction[],
  place: (index: number) => string,
): void {
  const written = new Set<number>(paramNames.keys());
  for (const { write } of flow) written.add(write);
  for (const [index, { reads }] of flow.entries()) {
    const register = reads.find((candidate) => !written.has(candidate));
    if (register === undefined) continue;
    throw brokenRule(
      place(index),
      `register %${register}, which nothing writes`,
      'a parameter or the result of a call',
    );
  }
}

interface OperandContext {
  readonly job: FunctionToVerify;
  readonly indexOfPc: ReadonlyMap<number, number>;
  readonly mentioned: Uint8Array;
  readonly index: number;
  readonly place: (index: number) => string;
}

/** Argument kinds that an operand kind allows. Offsets are not argument words. */
const ALLOWED: Readonly<Record<Exclude<OperandKind, 'offset'>, readonly number[]>> = {
  destination: [isa.ArgumentKind.register],
  condition: [isa.ArgumentKind.register],
  callee: [isa.ArgumentKind.function],
  argument: Object.values(isa.ArgumentKind),
};

function verifyOperands(
  instruction: Instruction,
  context: OperandContext,
): { reads: number[]; write: number; jumps: number[] } {
  const reads: number[] = [];
  const jumps: number[] = [];
  let write = -1;
  for (const [position, word] of instruction.operands.entries()) {
    const { kind } = isa.operandSpec(instruction.spec, position);
    if (kind === 'offset') {
      jumps.push(verifyJump(instruction, word, context));
      continue;
    }
    if (!ALLOWED[kind].includes(isa.argumentKind(word))) {
      throw operandError(context, position, instruction, `the word 0x${word.toString(16)}`);
    }
    verifyIndex(instruction, position, context);
    if (isa.argumentKind(word) !== isa.ArgumentKind.register) continue;
    const register = isa.argumentValue(word);
    if (register >= isa.VM_REGISTER) continue;
    context.mentioned[register] = 1;
    if (kind === 'destination') write = register;
    else reads.push(register);
  }
  return { reads, write, jumps };
}

/** Checks that an operand's index lies within the table that it points into. */
function verifyIndex(instruction: Instruction, position: number, context: OperandContext): void {
  const word = instruction.operands[position] ?? 0;
  const { kind } = isa.operandSpec(instruction.spec, position);
  const { program, fn } = context.job;
  const value = isa.argumentValue(word);
  const argument = isa.argumentKind(word);
  const isRegister = argument === isa.ArgumentKind.register;
  let limit = Infinity;
  if (isRegister) limit = fn.registerCount;
  else if (argument === isa.ArgumentKind.constant) limit = program.constants.length;
  else if (argument === isa.ArgumentKind.function) limit = program.functionTable.length;
  if (value < limit) return;
  // A condition must be a value; only packed functions receive the machine's state.
  if (isRegister && value === isa.VOID_REGISTER && kind !== 'condition') return;
  if (
    isRegister &&
    value === isa.VM_REGISTER &&
    kind === 'argument' &&
    instruction.spec.name === 'call'
  ) {
    return;
  }
  const special = value === isa.VOID_REGISTER ? '%void' : '%vm';
  const name = argument === isa.ArgumentKind.constant ? 'constant ' : 'function reference ';
  const index = `${isRegister ? 'register %' : name}${value}`;
  const got = isRegister && value >= isa.VM_REGISTER ? special : index;
  throw operandError(context, position, instruction, got, `below ${limit}`);
}

function verifyJump(instruction: Instruction, word: number, context: OperandContext): number {
  const target = isa.jumpTarget(instruction.pc, word);
  const index = context.indexOfPc.get(target);
  if (index !== undefined) return index;
  const { codeStart, codeLength } = context.job.fn;
  const inside = target >= codeStart && target < codeStart + codeLength;
  throw brokenRule(
    context.place(context.index),
    `a jump to code word ${target}, ${inside ? 'inside an instruction' : 'outside the function'}`,
    `the first word of an instruction from ${codeStart} to ${codeStart + codeLength - 1}`,
  );
}

function operandError(
  context: OperandContext,
  position: number,
  instruction: Instruction,
  ...[got, expected]: [got: string, expected?: string]
): VerifyError {
  const { name, kind } = isa.operandSpec(instruction.spec, position);
  return brokenRule(
    `${context.place(context.index)}, operand ${position} (${name})`,
    got,
    `${withArticle(kind)}${expected === undefined ? '' : ` ${expected}`}`,
  );
}

function describePlace(
  { program, fn }: FunctionToVerify,
  instruction: Instruction | undefined,
  index: number,
): string {
  if (instruction === undefined) return `function ${fn.name}`;
  const { spec, operands, pc } = instruction;
  const callee = spec.operands.findIndex(({ kind }) => kind === 'callee');
  const entry = program.functionTable[isa.argumentValue(operands[callee] ?? 0)];
  const name = callee >= 0 && entry !== undefined ? ` ${entry.name}` : '';
  return `function ${fn.name}, instruction ${index} at code word ${pc} (${spec.name}${name})`;
}
