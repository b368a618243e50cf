import { BUILTIN_PREFIX } from '../builtins.ts';
import type { BytecodeFunction, ExecutableData } from '../executable.ts';
import { decodeRange, Opcode, operandSpec } from '../isa.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { evaluateDim } from '../../core/dims/dim.ts';
import { type CodeStep, codeSteps } from '../code-steps.ts';
import { KnownSizes, type Sizes, symbolsOf } from './known-sizes.ts';

/** Memory that a function holds for a while: a storage that it allocates, or an input. */
export interface StorageLife {
  /** The instruction that allocates it; undefined for an input. */
  readonly instruction: number | undefined;
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
  /** Its calls of functions of the program, and the bytes that are held while they run. */
  readonly calls: readonly { readonly function: string; readonly heldBytes: number }[];
  /** Bytes that its result refers to. */
  readonly returnedBytes: number;
}

/** The bytes that the result of a function of the program refers to. */
type ResultBytes = (functionName: string) => number;

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
 * taken one after the other. Memory of functions that it calls, of constants and of kernels is not in it. Without `resultBytes`
 * the result of such a function is what it was called with.
 */
export function memoryUse(
  program: ExecutableData,
  functionName: string,
  sizes: Sizes,
  resultBytes?: ResultBytes,
): MemoryUse | undefined {
  const fn = program.functions.find(({ name }) => name === functionName);
  return fn === undefined
    ? undefined
    : new MemoryFollower({ program, fn, sizes, resultBytes }).follow();
}

interface Followed {
  readonly program: ExecutableData;
  readonly fn: BytecodeFunction;
  readonly sizes: Sizes;
  readonly resultBytes: ResultBytes | undefined;
}

class MemoryFollower {
  readonly #program: ExecutableData;
  readonly #fn: BytecodeFunction;
  readonly #sizes: Sizes;
  readonly #known: KnownSizes;
  readonly #resultBytes: ResultBytes | undefined;
  readonly #calls: MemoryUse['calls'][number][] = [];
  #returnedBytes = 0;
  readonly #storages: Growing[] = [];
  #registers = new Map<number, Held>();

  constructor({ program, fn, sizes, resultBytes }: Followed) {
    this.#program = program;
    this.#fn = fn;
    this.#sizes = sizes;
    this.#known = new KnownSizes(program, fn, sizes);
    this.#resultBytes = resultBytes;
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
      if (spec?.opcode === Opcode.ret) {
        const returned = this.#registers.get(step.reads[0] ?? -1) ?? NOTHING;
        this.#returnedBytes = Math.max(this.#returnedBytes, bytesOf(returned));
      }
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
      calls: this.#calls,
      returnedBytes: this.#returnedBytes,
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
    if (entry?.kind === 'bytecode') {
      const heldBytes = bytesOf(this.#storages.filter(({ holders }) => holders > 0));
      this.#calls.push({ function: entry.name, heldBytes });
    }
    if (writes === undefined) return;
    this.#hold(writes, this.#resultOf(number, { entry, builtin, held, words }), number);
  }

  #resultOf(instruction: number, { entry, builtin, held, words }: Called): Held {
    const all = new Set(held.flatMap((each) => [...each]));
    if (entry === undefined) return all;
    const made = (byteLength: number | undefined, isOnHost = false): Held =>
      new Set([this.#add({ instruction, byteLength, isOnHost })]);
    if (entry.kind === 'bytecode') {
      return this.#resultBytes === undefined ? all : made(this.#resultBytes(entry.name));
    }
    // A kernel that makes its result itself, or a function of the page.
    if (builtin === undefined) return made(undefined);
    if (builtin === 'copy') return made(bytesOf(all));
    if (builtin !== 'alloc_storage') return KEEPING.has(builtin) ? all : NOTHING;
    return made(this.#known.numberOf(words[0]), this.#known.numberOf(words[1]) === 1);
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

  /** Sets all registers to the storages that they hold where a branch begins. */
  #turnTo(registers: ReadonlyMap<number, Held>, at: number): void {
    const all = new Set([...this.#registers.keys(), ...registers.keys()]);
    for (const register of all) {
      this.#hold(register, registers.get(register) ?? NOTHING, at);
    }
  }
}

interface Called {
  readonly entry: ExecutableData['functionTable'][number] | undefined;
  /** The short name of a builtin. */
  readonly builtin: string | undefined;
  /** The storages that each argument refers to. */
  readonly held: readonly Held[];
  readonly words: readonly number[];
}

/** Builtins whose result refers to the storages of their arguments. */
const KEEPING: ReadonlySet<string> = new Set(
  `alloc_tensor reshape own reuse append whole to_device make_tuple tuple_get make_adt get_field make_closure move`.split(
    ' ',
  ),
);

function bytesOf(storages: Iterable<Growing>): number {
  let sum = 0;
  for (const { life } of storages) sum += life.byteLength ?? 0;
  return sum;
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
