import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { BytecodeFunction, ExecutableData } from '../../bytecode/executable.ts';
import { decodeRange, operandSpec } from '../../bytecode/isa.ts';
import { storageByteLength } from '../../core/dtype.ts';
import { evaluateDim } from '../../core/dim.ts';
import { type CodeStep, codeSteps } from '../program/instructions.ts';
import { KnownSizes, type Sizes, symbolsOf } from './known-sizes.ts';

/** Memory that a function holds for a while: a storage that it allocates, or an input. */
export interface StorageLife {
  /** The instruction that allocates it; undefined for an input. */
  readonly instruction: number | undefined;
  /** The name of an input. */
  readonly input: string | undefined;
  /** Undefined where elements decide the size. */
  readonly byteLength: number | undefined;
  readonly isOnHost: boolean;
  /** From the first instruction to the last one that find it held, as often as that begins again. */
  readonly spans: readonly (readonly [first: number, last: number])[];
  /** Calls of kernels that write to it. */
  readonly writers: readonly number[];
}

/** The memory of one run of a function, along its instructions. */
export interface MemoryUse {
  readonly storages: readonly StorageLife[];
  readonly instructionCount: number;
  /** The first instruction at which most bytes are held, and how many. */
  readonly peak: { readonly instruction: number; readonly byteLength: number };
  /** Symbols that sizes depend on. */
  readonly symbols: readonly string[];
}

/** A life that is followed. */
interface Growing {
  readonly life: StorageLife;
  readonly spans: [number, number][];
  readonly writers: number[];
  /** How many registers hold it, and since when. */
  holders: number;
  since: number;
}

type Held = ReadonlySet<Growing>;
const NOTHING: Held = new Set();

/**
 * Which storages a function holds at which instruction, with sizes of its inputs. It follows registers as the machine
 * counts references: a storage lives while a register has it, a tensor in it, or a value made of that. Branches are
 * taken one after the other. Memory of functions that it calls, of constants and of kernels is not in it.
 */
export function memoryUse(
  program: ExecutableData,
  functionName: string,
  sizes: Sizes,
): MemoryUse | undefined {
  const fn = program.functions.find(({ name }) => name === functionName);
  return fn === undefined ? undefined : new MemoryFollower(program, fn, sizes).follow();
}

class MemoryFollower {
  readonly #program: ExecutableData;
  readonly #fn: BytecodeFunction;
  readonly #sizes: Sizes;
  readonly #known: KnownSizes;
  readonly #storages: Growing[] = [];
  #registers = new Map<number, Held>();

  constructor(program: ExecutableData, fn: BytecodeFunction, sizes: Sizes) {
    this.#program = program;
    this.#fn = fn;
    this.#sizes = sizes;
    this.#known = new KnownSizes(program, fn, sizes);
  }

  follow(): MemoryUse {
    const { code } = this.#program;
    const { codeStart, codeLength } = this.#fn;
    const instructions = [...decodeRange(code, codeStart, codeStart + codeLength)];
    const steps = codeSteps(this.#program, this.#fn);
    const branches = new Map<number, Map<number, Held>>();
    this.#takeInputs();
    for (const [number, step] of steps.entries()) {
      const branch = branches.get(number);
      const isReached = number === 0 || steps[number - 1]?.next.includes(number) === true;
      if (branch !== undefined && !isReached) this.#turnTo(branch, number);
      const { spec, operands = [] } = instructions[number] ?? {};
      const words = operands.filter(
        (_, i) => spec !== undefined && operandSpec(spec, i).kind === 'argument',
      );
      this.#take(number, step, words);
      for (const next of step.next) {
        if (next !== number + 1) branches.set(next, new Map(this.#registers));
      }
    }
    this.#turnTo(new Map(), steps.length);
    const storages = this.#storages.map(({ life }) => life);
    return {
      storages,
      instructionCount: steps.length,
      peak: peakOf(storages, steps.length),
      symbols: symbolsOf(this.#fn),
    };
  }

  #takeInputs(): void {
    for (const [i, input] of this.#fn.paramNames.entries()) {
      const type = this.#fn.signature?.params[i];
      if (type?.kind !== 'tensor') continue;
      const dims = type.shape.map((dim) => evaluateDim(dim, this.#sizes));
      const count = dims.reduce(
        (all, dim) => (all === undefined || dim === undefined ? undefined : all * dim),
        1,
      );
      const byteLength = count === undefined ? undefined : storageByteLength(type.dtype, count);
      this.#hold(i, new Set([this.#add({ input, byteLength })]), 0);
    }
  }

  #add(known: Partial<StorageLife>): Growing {
    const spans: [number, number][] = [];
    const writers: number[] = [];
    const life: StorageLife = {
      instruction: undefined,
      input: undefined,
      byteLength: undefined,
      isOnHost: false,
      ...known,
      spans,
      writers,
    };
    const storage = { life, spans, writers, holders: 0, since: 0 };
    this.#storages.push(storage);
    return storage;
  }

  #take(number: number, { callee, reads, writes }: CodeStep, words: readonly number[]): void {
    const entry = callee === undefined ? undefined : this.#program.functionTable[callee];
    const held = reads.map((register) => this.#registers.get(register ?? -1) ?? NOTHING);
    if (entry?.kind === 'primitive') {
      const { params = [] } =
        this.#program.primitives.find(({ name }) => name === entry.name) ?? {};
      for (const storages of held.slice(params.length))
        for (const { writers } of storages) writers.push(number);
    }
    const builtin = entry?.kind === 'packed' ? builtinName(entry.name) : undefined;
    if (builtin !== undefined) this.#known.follow(builtin, words, writes);
    if (writes === undefined) return;
    if (builtin === 'alloc_storage') {
      const byteLength = this.#known.numberOf(words[0]);
      const isOnHost = this.#known.numberOf(words[1]) === 1;
      this.#hold(
        writes,
        new Set([this.#add({ instruction: number, byteLength, isOnHost })]),
        number,
      );
    } else this.#hold(writes, new Set(held.flatMap((each) => [...each])), number);
  }

  /** A register holds other storages from an instruction on. */
  #hold(register: number, storages: Held, at: number): void {
    const before = this.#registers.get(register) ?? NOTHING;
    this.#registers.set(register, storages);
    for (const storage of storages) if (storage.holders++ === 0) storage.since = at;
    for (const storage of before) {
      if (--storage.holders === 0) storage.spans.push([storage.since, at]);
    }
  }

  /** What registers hold where a branch begins. */
  #turnTo(registers: ReadonlyMap<number, Held>, at: number): void {
    const all = new Set([...this.#registers.keys(), ...registers.keys()]);
    for (const register of all) {
      this.#hold(register, registers.get(register) ?? NOTHING, at);
    }
  }
}

function builtinName(name: string): string | undefined {
  return name.startsWith(BUILTIN_PREFIX) ? name.slice(BUILTIN_PREFIX.length) : undefined;
}

function peakOf(storages: readonly StorageLife[], count: number): MemoryUse['peak'] {
  const changes = new Float64Array(count + 2);
  for (const { byteLength = 0, spans } of storages) {
    for (const [first, last] of spans) {
      changes[first] = (changes[first] ?? 0) + byteLength;
      changes[last + 1] = (changes[last + 1] ?? 0) - byteLength;
    }
  }
  let peak = { instruction: 0, byteLength: 0 };
  let held = 0;
  for (let instruction = 0; instruction < count; instruction++) {
    held += changes[instruction] ?? 0;
    if (held > peak.byteLength) peak = { instruction, byteLength: held };
  }
  return peak;
}
