import { VerifyError } from '../../core/errors.ts';
import { brokenRule } from './broken-rule.ts';
import type { PrimitiveFunction, TensorType } from '../../core/contracts/primitive-function.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import { shortList } from '../../core/short-list.ts';
import { builtinSignature } from '../builtins.ts';
import type { BytecodeFunction, Constant, ExecutableData } from '../executable.ts';
import type { Instruction } from '../isa.ts';
import * as isa from '../isa.ts';
import { verifyBuiltinCall } from './verify-builtin.ts';
import type { HeapUse } from './verify-flow.ts';
import { MAX_HEAP_SLOTS } from './verify-shape-program.ts';

/** The signatures that calls are checked against, by name; made once for an executable. */
export interface CallTables {
  readonly functions: ReadonlyMap<string, BytecodeFunction>;
  readonly primitives: ReadonlyMap<string, PrimitiveFunction>;
  /** Slots that each shape program needs. */
  readonly shapePrograms: readonly number[];
}

interface CallContext {
  readonly program: ExecutableData;
  readonly tables: CallTables;
  readonly where: () => string;
}

/** The use that an instruction makes of shape heaps. */
interface HeapFacts {
  readonly heapSlots: number;
  readonly heapUses: readonly HeapUse[];
}

/** The most arguments that a JS function can surely be called with: they take room on the thread's stack. */
const MAX_PACKED_ARGUMENTS = 1 << 14;

const NO_HEAP: HeapFacts = { heapSlots: -1, heapUses: [] };

interface Call {
  readonly result: number;
  readonly name: string;
  readonly args: readonly number[];
}

/** Checks a call against what is called. Indices of operands have been checked. */
export function verifyCall(instruction: Instruction, context: CallContext): HeapFacts {
  verifyFunctionValues(instruction, context);
  if (instruction.spec.name !== 'call') return NO_HEAP;
  const [result = 0, callee = 0, ...args] = instruction.operands;
  const { functionTable } = context.program;
  const entry = functionTable[isa.argumentValue(callee)];
  if (entry === undefined) return NO_HEAP;
  const call = { result, name: entry.name, args };
  if (entry.kind !== 'bytecode' && args.length > MAX_PACKED_ARGUMENTS) {
    throw brokenRule(
      context.where(),
      `${args.length} arguments`,
      `at most ${MAX_PACKED_ARGUMENTS}: it is not a bytecode function`,
    );
  }
  if (entry.kind === 'bytecode') verifyBytecodeCall(call, context);
  else if (entry.kind === 'primitive') verifyPrimitiveCall(call, context);
  const signature = entry.kind === 'packed' ? builtinSignature(entry.name) : undefined;
  if (entry.kind !== 'packed' || signature !== undefined) forbidMachineState(args, context);
  if (signature === undefined) return NO_HEAP;
  if (signature.result === 'void' && isa.argumentValue(result) !== isa.VOID_REGISTER) {
    throw brokenRule(
      context.where(),
      `the result register %${isa.argumentValue(result)}`,
      `%void: ${entry.name} returns nothing`,
    );
  }
  const { constants } = context.program;
  const { where } = context;
  const { shapePrograms } = context.tables;
  const heapUses = verifyBuiltinCall({ signature, args, constants, shapePrograms, where });
  if (signature.result !== 'heap') return { heapSlots: -1, heapUses };
  const heapSlots = isa.argumentValue(args[0] ?? 0);
  if (heapSlots > MAX_HEAP_SLOTS) {
    throw brokenRule(where(), `a shape heap of ${heapSlots} slots`, `at most ${MAX_HEAP_SLOTS}`);
  }
  return { heapSlots, heapUses };
}

/**
 * Function values are called with operands that nobody could verify, so they must be functions
 * that check their arguments themselves.
 */
function verifyFunctionValues({ spec, operands }: Instruction, context: CallContext): void {
  for (const [position, word] of operands.entries()) {
    if (isa.operandSpec(spec, position).kind !== 'argument') continue;
    if (isa.argumentKind(word) !== isa.ArgumentKind.function) continue;
    const entry = context.program.functionTable[isa.argumentValue(word)];
    const isBuiltin = entry !== undefined && builtinSignature(entry.name) !== undefined;
    if (entry?.kind !== 'primitive' && !isBuiltin) continue;
    throw new VerifyError({
      where: context.where(),
      got: `the ${isBuiltin ? 'builtin' : 'primitive'} ${entry?.name} as a value`,
      expected: 'a bytecode function or a packed function of the user',
      remedy: 'Call it in a bytecode function, and pass that.',
    });
  }
}

function forbidMachineState(args: readonly number[], context: CallContext): void {
  if (!args.some((word) => word === isa.VM_REGISTER)) return;
  throw brokenRule(
    context.where(),
    '%vm as an argument',
    'it only where a packed function of the user is called',
  );
}

function verifyBytecodeCall({ name, args }: Call, context: CallContext): void {
  const fn = context.tables.functions.get(name);
  if (fn === undefined || fn.paramNames.length === args.length) return;
  throw brokenRule(
    context.where(),
    `${args.length} arguments`,
    `${fn.paramNames.length} (${shortList(fn.paramNames)})`,
  );
}

function verifyPrimitiveCall({ name, args, result }: Call, context: CallContext): void {
  const primitive = context.tables.primitives.get(name);
  if (primitive === undefined) return;
  const { params, results } = primitive;
  const isReturned = returnsTensor(primitive);
  const outputCount = isReturned ? 0 : results.length;
  if (args.length !== params.length + outputCount) {
    throw brokenRule(
      context.where(),
      `${args.length} arguments`,
      `${params.length} inputs and then ${outputCount} outputs`,
    );
  }
  if (!isReturned && isa.argumentValue(result) !== isa.VOID_REGISTER) {
    throw brokenRule(
      context.where(),
      `the result register %${isa.argumentValue(result)}`,
      '%void: a primitive writes to its last arguments',
    );
  }
  for (const [position, word] of args.entries()) {
    verifyKernelOperand(word, { primitive, position, context });
  }
}

function verifyKernelOperand(
  word: number,
  {
    primitive,
    position,
    context,
  }: { primitive: PrimitiveFunction; position: number; context: CallContext },
): void {
  if (
    isa.argumentKind(word) === isa.ArgumentKind.register &&
    isa.argumentValue(word) < isa.VM_REGISTER
  )
    return;
  const type = primitive.params[position];
  const constant =
    isa.argumentKind(word) === isa.ArgumentKind.constant
      ? context.program.constants[isa.argumentValue(word)]
      : undefined;
  if (type !== undefined && constant?.kind === 'tensor' && fits(constant, type)) return;
  const role = type === undefined ? 'output' : 'input';
  throw new VerifyError({
    where: `${context.where()}, argument ${position}`,
    got: constant === undefined ? 'no tensor' : `a ${describe(constant)} constant`,
    expected:
      type === undefined
        ? 'a register'
        : `a register or a constant for the ${role} ${type.dtype} of rank ${type.shape.length}`,
    remedy: role === 'output' ? 'Outputs are tensors that were allocated before.' : undefined,
  });
}

function describe(constant: Constant): string {
  if (constant.kind !== 'tensor') return constant.kind;
  return `${constant.dtype} (${constant.shape.join(', ')})`;
}

/**
 * Returns true if a constant can have the type: the dtype, the rank and the dimensions that are
 * numbers.
 */
function fits(constant: { dtype: string; shape: readonly number[] }, type: TensorType): boolean {
  return (
    constant.dtype === type.dtype &&
    constant.shape.length === type.shape.length &&
    type.shape.every((dim, axis) => typeof dim !== 'number' || dim === constant.shape[axis])
  );
}
