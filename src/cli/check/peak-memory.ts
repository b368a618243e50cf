import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { BytecodeFunction, ExecutableData, ValueType } from '../../bytecode/executable.ts';
import {
  ArgumentKind,
  argumentKind,
  argumentValue,
  decodeRange,
  Opcode,
  VOID_REGISTER,
} from '../../bytecode/isa.ts';
import { storageByteLength } from '../../core/dtype.ts';
import { elementCount } from '../../core/shape.ts';

/** Tensors of a run, inputs and results among them. */
export interface PeakMemory {
  /** The most bytes that are held at one time. */
  readonly peak: number;
  /** Whether sizes that runs tell are left out. */
  readonly isAtLeast: boolean;
}

interface Summary extends PeakMemory {
  /** Bytes of its parameters, which the caller holds. */
  readonly given: number;
  /** Bytes that the result refers to. */
  readonly returned: number;
}

/** Builtins whose result refers to the storages of their arguments. */
const KEEPING = new Set(
  `alloc_tensor reshape own reuse append whole to_device make_tuple tuple_get make_adt get_field make_closure move`
    .split(' ')
    .map((name) => `${BUILTIN_PREFIX}${name}`),
);
const ALLOC_STORAGE = `${BUILTIN_PREFIX}alloc_storage`;

/**
 * Follows the storages of `main`, instruction by instruction: one is held while a register refers to it. Both ways of a
 * branch count one behind the other, a loop once, and a call with the peak of its function.
 */
export function peakMemory(executable: ExecutableData): PeakMemory {
  const known = new Map<string, Summary>();
  const main = executable.functions.find(({ name }) => name === 'main') ?? executable.functions[0];
  if (main === undefined) return { peak: 0, isAtLeast: false };
  for (const fn of calleesFirst(executable, main)) {
    known.set(fn.name, new Walk(executable, known).follow(fn));
  }
  const { peak = 0, isAtLeast = false } = known.get(main.name) ?? {};
  return { peak, isAtLeast };
}

/** The function and all that it calls, those first that are called. A recursion counts once. */
function calleesFirst(executable: ExecutableData, main: BytecodeFunction): BytecodeFunction[] {
  const byName = new Map(executable.functions.map((fn) => [fn.name, fn]));
  const begun = new Set([main]);
  const order: BytecodeFunction[] = [];
  // Calls may be nested deeper than this thread's stack.
  const stack = [{ fn: main, callees: calleesOf(executable, main) }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const callee = byName.get(top.callees.pop() ?? '');
    if (callee !== undefined && !begun.has(callee)) {
      begun.add(callee);
      stack.push({ fn: callee, callees: calleesOf(executable, callee) });
    } else if (top.callees.length === 0 && callee === undefined) {
      stack.pop();
      order.push(top.fn);
    }
  }
  return order;
}

function calleesOf(executable: ExecutableData, fn: BytecodeFunction): string[] {
  return [...instructionsOf(executable, fn)].flatMap(({ entry }) =>
    entry?.kind === 'bytecode' ? [entry.name] : [],
  );
}

function* instructionsOf(
  { code, functionTable }: ExecutableData,
  { codeStart, codeLength }: BytecodeFunction,
) {
  for (const { spec, operands } of decodeRange(code, codeStart, codeStart + codeLength)) {
    const isCall = spec.opcode === Opcode.call;
    const [target = 0, callee = 0, ...args] = operands;
    const entry = isCall ? functionTable[argumentValue(callee)] : undefined;
    yield { opcode: spec.opcode, target, entry, args };
  }
}

/** The storages that registers refer to, in one function. */
class Walk {
  readonly #executable: ExecutableData;
  readonly #known: ReadonlyMap<string, Summary>;
  /** Storages by register, each with its bytes. */
  readonly #registers = new Map<number, ReadonlySet<Storage>>();
  #peak = 0;
  #returned = 0;
  #isAtLeast = false;

  constructor(executable: ExecutableData, known: ReadonlyMap<string, Summary>) {
    this.#executable = executable;
    this.#known = known;
  }

  follow(fn: BytecodeFunction): Summary {
    for (const [i, type] of (fn.signature?.params ?? []).entries()) {
      this.#hold(i, byteLengthOf(type));
    }
    this.#note(0);
    const given = this.#peak;
    for (const { opcode, target, entry, args } of instructionsOf(this.#executable, fn)) {
      if (opcode === Opcode.ret) {
        const returned = this.#registers.get(argumentValue(target)) ?? new Set();
        this.#returned = Math.max(this.#returned, bytesOf([returned]));
      }
      if (entry === undefined) continue;
      if (entry.kind === 'bytecode') {
        const summary = this.#known.get(entry.name);
        this.#note(summary === undefined ? 0 : summary.peak - summary.given);
        this.#isAtLeast ||= summary?.isAtLeast === true;
        this.#hold(argumentValue(target), summary?.returned ?? 0);
      } else if (entry.name === ALLOC_STORAGE) {
        this.#hold(argumentValue(target), this.#sizeOf(args[0] ?? 0));
      } else if (entry.name.startsWith(BUILTIN_PREFIX)) {
        const kept = this.#kept(entry.name, args);
        if (kept.size === 0) this.#registers.delete(argumentValue(target));
        else this.#registers.set(argumentValue(target), kept);
      } else if (target !== VOID_REGISTER) {
        // A kernel that makes its results itself, or a function of the page.
        this.#hold(target, undefined);
      }
      this.#note(0);
    }
    return { peak: this.#peak, given, returned: this.#returned, isAtLeast: this.#isAtLeast };
  }

  #kept(name: string, args: readonly number[]): ReadonlySet<Storage> {
    if (!KEEPING.has(name)) return new Set();
    const registers = args.filter((arg) => argumentKind(arg) === ArgumentKind.register);
    return new Set(
      registers.flatMap((arg) => [...(this.#registers.get(argumentValue(arg)) ?? [])]),
    );
  }

  #hold(register: number, byteLength: number | undefined): void {
    this.#isAtLeast ||= byteLength === undefined;
    this.#registers.set(register, new Set([{ byteLength: byteLength ?? 0 }]));
  }

  #note(more: number): void {
    this.#peak = Math.max(this.#peak, bytesOf(this.#registers.values()) + more);
  }

  /** Undefined for a size that a run tells. */
  #sizeOf(word: number): number | undefined {
    const kind = argumentKind(word);
    if (kind === ArgumentKind.immediate) return argumentValue(word);
    const constant = this.#executable.constants[argumentValue(word)];
    return kind === ArgumentKind.constant && constant?.kind === 'int' ? constant.value : undefined;
  }
}

interface Storage {
  readonly byteLength: number;
}

function bytesOf(held: Iterable<ReadonlySet<Storage>>): number {
  const storages = new Set<Storage>();
  for (const one of held) for (const storage of one) storages.add(storage);
  let sum = 0;
  for (const { byteLength } of storages) sum += byteLength;
  return sum;
}

/** 0 for what is no tensor, undefined where a run tells a size. */
function byteLengthOf(type: ValueType): number | undefined {
  if (type.kind !== 'tensor') return type.kind === 'any' ? undefined : 0;
  const sizes = type.shape.filter((dim) => typeof dim === 'number');
  if (sizes.length < type.shape.length) return undefined;
  return storageByteLength(type.dtype, elementCount(sizes));
}
