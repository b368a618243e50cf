import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { BytecodeFunction, ExecutableData } from '../../bytecode/executable.ts';
import {
  ArgumentKind,
  argumentKind,
  argumentValue,
  decodeRange,
  Opcode,
} from '../../bytecode/isa.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/shape.ts';

/** Bytes that a program takes on one device. */
interface PlannedBytes {
  readonly constants: number;
  /**
   * Of the function with most: all its storages, and those of the function with most that it calls. Those
   * whose sizes runs tell are not in it.
   */
  readonly storages: number;
}

/** Counts the bytes that a verified program plans for. */
export function plannedBytes(executable: ExecutableData): PlannedBytes {
  let constants = 0;
  for (const one of executable.constants) {
    if (one.kind === 'tensor') constants += storageByteLength(one.dtype, elementCount(one.shape));
  }
  const functions = new Map(
    executable.functions.map((fn) => [fn.name, readFunction(executable, fn)] as const),
  );
  const known = new Map<PlannedFunction, number>();
  let storages = 0;
  for (const fn of functions.values()) {
    storages = Math.max(storages, storageBytes(fn, functions, known));
  }
  return { constants, storages };
}

interface PlannedFunction {
  /** Bytes of its own storages. */
  readonly own: number;
  readonly callees: ReadonlySet<string>;
}

function readFunction(
  { functionTable, constants, code }: ExecutableData,
  { codeStart, codeLength }: BytecodeFunction,
): PlannedFunction {
  const callees = new Set<string>();
  let own = 0;
  for (const { spec, operands } of decodeRange(code, codeStart, codeStart + codeLength)) {
    const [, callee = 0, size = 0] = operands;
    const entry = functionTable[argumentValue(callee)];
    if (spec.opcode !== Opcode.call || entry === undefined) continue;
    if (entry.kind === 'bytecode') callees.add(entry.name);
    else if (entry.name === ALLOC_STORAGE) {
      const constant = constants[argumentValue(size)];
      const isConstant = argumentKind(size) === ArgumentKind.constant && constant?.kind === 'int';
      if (isConstant) own += constant.value;
      if (argumentKind(size) === ArgumentKind.immediate) own += argumentValue(size);
    }
  }
  return { own, callees };
}

/**
 * Bytes of a function's storages, with those of the callee with most. Calls may be nested deeper
 * than this thread's stack.
 */
function storageBytes(
  root: PlannedFunction,
  functions: ReadonlyMap<string, PlannedFunction>,
  known: Map<PlannedFunction, number>,
): number {
  const stack = [root];
  const visited = new Set<PlannedFunction>();
  for (let fn = stack.at(-1); fn !== undefined; fn = stack.at(-1)) {
    const isVisited = visited.has(fn);
    visited.add(fn);
    let called = 0;
    for (const name of known.has(fn) ? [] : fn.callees) {
      const callee = functions.get(name);
      if (callee === undefined) continue;
      called = Math.max(called, known.get(callee) ?? 0);
      // One that has begun is a recursion, which counts once.
      if (!isVisited && !visited.has(callee) && !known.has(callee)) stack.push(callee);
    }
    if (stack.at(-1) !== fn) continue;
    stack.pop();
    if (!known.has(fn)) known.set(fn, fn.own + called);
  }
  return known.get(root) ?? 0;
}

const ALLOC_STORAGE = `${BUILTIN_PREFIX}alloc_storage`;
