import { codeSteps } from '../../bytecode/code-steps.ts';
import type { BytecodeFunction, ExecutableData } from '../../bytecode/executable.ts';
import { memoryUse } from '../../bytecode/memory/memory-use.ts';
import { internalError } from '../../core/errors.ts';

/** Tensors of a run, inputs and results among them. */
interface PeakMemory {
  /** The most bytes that are held at one time. */
  readonly peak: number;
  /** True if there are more tensors, of sizes that only a run tells: they are not counted. */
  readonly isAtLeast: boolean;
}

interface Summary extends PeakMemory {
  /** Bytes of its parameters, which the caller holds. */
  readonly given: number;
  /** Bytes that the result refers to. */
  readonly returned: number;
}

/**
 * Follows the storages of `main`, instruction by instruction: one is held while a register refers to it. Both ways of a
 * branch count one behind the other, a loop once, and a call with the peak of its function.
 */
export function peakMemory(executable: ExecutableData): PeakMemory {
  const known = new Map<string, Summary>();
  const main = executable.functions.find(({ name }) => name === 'main') ?? executable.functions[0];
  if (main === undefined) return { peak: 0, isAtLeast: false };
  for (const fn of calleesFirst(executable, main)) {
    known.set(fn.name, summaryOf(executable, fn, known));
  }
  const { peak = 0, isAtLeast = false } = known.get(main.name) ?? {};
  return { peak, isAtLeast };
}

/** The function and all that it calls, those first that are called. A recursion counts once. */
function calleesFirst(executable: ExecutableData, main: BytecodeFunction): BytecodeFunction[] {
  const byName = new Map(executable.functions.map((fn) => [fn.name, fn]));
  const visited = new Set([main]);
  const order: BytecodeFunction[] = [];
  // Calls may be nested deeper than this thread's stack.
  const stack = [{ fn: main, callees: calleesOf(executable, main) }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const callee = byName.get(top.callees.pop() ?? '');
    if (callee !== undefined && !visited.has(callee)) {
      visited.add(callee);
      stack.push({ fn: callee, callees: calleesOf(executable, callee) });
    } else if (top.callees.length === 0 && callee === undefined) {
      stack.pop();
      order.push(top.fn);
    }
  }
  return order;
}

function calleesOf(executable: ExecutableData, fn: BytecodeFunction): string[] {
  return codeSteps(executable, fn).flatMap(({ callee = -1 }) => {
    const entry = executable.functionTable[callee];
    return entry?.kind === 'bytecode' ? [entry.name] : [];
  });
}

const NO_SIZES = new Map<string, number>();

function summaryOf(
  executable: ExecutableData,
  fn: BytecodeFunction,
  known: ReadonlyMap<string, Summary>,
): Summary {
  const returnedOf = (callee: string): number => known.get(callee)?.returned ?? 0;
  const use = memoryUse(executable, fn.name, NO_SIZES, returnedOf);
  if (use === undefined) throw internalError(`no function ${fn.name}`);
  const { storages, calls } = use;
  let { byteLength: peak } = use.peak;
  let isAtLeast =
    storages.some(({ byteLength }) => byteLength === undefined) ||
    fn.signature?.params.some(({ kind }) => kind === 'any') === true;
  for (const { function: name, heldBytes } of calls) {
    const callee = known.get(name);
    if (callee === undefined) continue;
    peak = Math.max(peak, heldBytes + callee.peak - callee.given);
    isAtLeast ||= callee.isAtLeast;
  }
  const inputs = storages.filter(({ input }) => input !== undefined);
  const given = inputs.reduce((sum, { byteLength = 0 }) => sum + byteLength, 0);
  return { peak, given, returned: use.returnedBytes, isAtLeast };
}
