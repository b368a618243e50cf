import { BUILTIN_PREFIX } from '../bytecode/builtins.ts';
import type { ExecutableData } from '../bytecode/executable.ts';
import { ArgumentKind, argumentKind, argumentValue, decodeRange, Opcode } from '../bytecode/isa.ts';
import { storageByteLength } from '../core/dtype.ts';
import { elementCount } from '../core/shape.ts';

/** Bytes that a program takes on one device. */
export interface PlannedBytes {
  readonly constants: number;
  /**
   * Of the function with most: all its storages, and those of the function with most that it calls. Those
   * whose sizes runs tell are not in it.
   */
  readonly storages: number;
}

/** Of a verified program. */
export function plannedBytes(executable: ExecutableData): PlannedBytes {
  let bytes = 0;
  for (const one of executable.constants) {
    if (one.kind === 'tensor') bytes += storageByteLength(one.dtype, elementCount(one.shape));
  }
  const known = new Map<string, number>();
  const all = executable.functions.map(({ name }) => storageBytes(executable, name, known));
  return { constants: bytes, storages: Math.max(0, ...all) };
}

function storageBytes(
  executable: ExecutableData,
  name: string,
  known: Map<string, number>,
): number {
  const { functions, functionTable, constants, code } = executable;
  const fn = functions.find((one) => one.name === name);
  const found = known.get(name);
  if (fn === undefined || found !== undefined) return found ?? 0;
  // A recursion finds nothing yet, so that it counts once.
  known.set(name, 0);
  const end = fn.codeStart + fn.codeLength;
  let [own, called] = [0, 0];
  for (const { spec, operands } of decodeRange(code, fn.codeStart, end)) {
    const [, callee = 0, size = 0] = operands;
    const entry = functionTable[argumentValue(callee)];
    if (spec.opcode !== Opcode.call || entry === undefined) continue;
    if (entry.kind === 'bytecode') {
      called = Math.max(called, storageBytes(executable, entry.name, known));
    } else if (entry.name === ALLOC_STORAGE) {
      const constant = constants[argumentValue(size)];
      const isConstant = argumentKind(size) === ArgumentKind.constant && constant?.kind === 'int';
      if (isConstant) own += constant.value;
      if (argumentKind(size) === ArgumentKind.immediate) own += argumentValue(size);
    }
  }
  known.set(name, own + called);
  return own + called;
}

const ALLOC_STORAGE = `${BUILTIN_PREFIX}alloc_storage`;
