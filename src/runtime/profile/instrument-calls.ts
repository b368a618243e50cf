import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { Allocator } from '../allocator/allocator.ts';
import { read } from '../call.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import type { Frame } from '../frame.ts';
import type { Invocation } from '../invocation.ts';
import { type LinkedInstruction, LinkedOp } from '../link/linked-code.ts';
import type { OpenMachine } from '../link/load-machine.ts';
import { KernelInstructions } from '../observe/kernel-instructions.ts';
import { InstructionDriver, type InstructionObserver } from '../observe/observe.ts';
import type { Stepping } from '../run-hooks.ts';
import { ClosureValue, PackedFunctionValue, type Value } from '../values/value.ts';
import type { InstrumentedCall, MachineInstrument } from './function-profile.ts';

/** Drives the calls of a machine with hooks around them. A file of its own, loaded where there is an instrument. */
export function instrumented(machine: OpenMachine, instrument: MachineInstrument): Stepping {
  const observer = new InstrumentObserver(machine, instrument);
  return new InstructionDriver(machine, observer, { passesBreakpoints: false });
}

type CallFields = Pick<InstrumentedCall, 'name' | 'args'> & {
  readonly kind: InstrumentedCall['kind'] | undefined;
};

/** The call of a builtin, a kernel or a function of the host that an instruction makes. */
interface PackedCall {
  readonly call: InstrumentedCall;
  readonly frame: Frame;
  readonly pc: number;
  readonly instruction: LinkedInstruction;
}

/** The calls within one call from outside that have begun. */
interface OpenCalls {
  /** Of bytecode, one for each frame: a tail call gives that of its caller other registers. */
  readonly frames: { readonly call: InstrumentedCall; readonly registers: readonly Value[] }[];
  packed: PackedCall | undefined;
  /** The instruction that ran last. */
  place: CodePlace | undefined;
}

/** Calls the hooks of an instrument as instructions and frames come and go. */
class InstrumentObserver implements InstructionObserver {
  readonly #machine: OpenMachine;
  readonly #instrument: MachineInstrument;
  readonly #instructions: KernelInstructions;
  /** Of packed functions by name; others are the host's. */
  readonly #kinds = new Map<string, InstrumentedCall['kind']>();
  readonly #open = new Map<Invocation, OpenCalls>();
  /** Known from the first call on, as long as the machine is there. */
  #allocators: ReadonlySet<Allocator> = new Set();
  readonly #liveBytes = (): number => {
    return [...this.#allocators].reduce(
      (sum, allocator) => sum + allocator.counters().liveBytes,
      0,
    );
  };

  constructor(machine: OpenMachine, instrument: MachineInstrument) {
    this.#machine = machine;
    this.#instrument = instrument;
    this.#instructions = new KernelInstructions(machine.executable);
    for (const { name, kind } of machine.executable.functionTable) {
      if (kind === 'primitive') this.#kinds.set(name, 'kernel');
      else if (name.startsWith(BUILTIN_PREFIX)) this.#kinds.set(name, 'builtin');
    }
  }

  before(invocation: Invocation): number {
    const open = this.#open.get(invocation) ?? { frames: [], packed: undefined, place: undefined };
    this.#open.set(invocation, open);
    if (this.#allocators.size === 0) {
      this.#allocators = new Set(this.#machine.internals().state.allocators);
    }
    const frame = invocation.frames.at(-1);
    // Whoever pauses the machine may have run the instruction after a breakpoint.
    if (open.packed?.frame === frame && open.packed?.pc === frame?.pc) return 1;
    void this.#settle(invocation, open);
    const instruction = frame?.function.code[frame.pc];
    if (frame === undefined || instruction === undefined) return 1;
    open.place = { function: frame.function.source.name, instruction: frame.pc };
    const call = this.#packedCall(invocation, frame, instruction, open.place);
    if (call === undefined) return 1;
    try {
      this.#instrument.before?.(call);
    } catch (error) {
      // Errors name the instruction that a frame is behind.
      frame.pc++;
      throw error;
    }
    open.packed = { call, frame, pc: frame.pc, instruction };
    return 1;
  }

  after(invocation: Invocation): Promise<void> | undefined {
    const open = this.#open.get(invocation);
    return open && this.#settle(invocation, open);
  }

  failed(invocation: Invocation): void {
    const open = this.#open.get(invocation);
    const { call } = open?.packed ?? {};
    if (open !== undefined) open.packed = undefined;
    if (call !== undefined) void this.#instrument.after?.(call);
  }

  ended({ invocation }: CallInFlight): void {
    void this.after(invocation);
    this.#open.delete(invocation);
  }

  /** Ends and begins calls until those that are open are those of the frames. */
  #settle({ frames }: Invocation, open: OpenCalls): Promise<void> | undefined {
    let waits: Promise<void> | void = undefined;
    const { packed } = open;
    if (packed !== undefined) {
      open.packed = undefined;
      const result = packed.frame.registers[packed.instruction.destination] ?? null;
      waits = this.#instrument.after?.(packed.call, result);
    }
    for (let i = open.frames.length - 1; i >= 0; i--) {
      const known = open.frames[i];
      if (known === undefined || known.registers === frames[i]?.registers) break;
      open.frames.pop();
      const ending = this.#instrument.after?.(known.call);
      waits = waits === undefined ? ending : waits.then(() => ending);
    }
    for (const { function: callee, registers } of frames.slice(open.frames.length)) {
      const { source, paramCount } = callee;
      const args = registers.slice(0, paramCount);
      const call = this.#call({ name: source.name, kind: 'bytecode', args }, open.place);
      open.frames.push({ call, registers });
      this.#instrument.before?.(call);
    }
    return waits ?? undefined;
  }

  #packedCall(
    { program }: Invocation,
    { registers }: Frame,
    instruction: LinkedInstruction,
    place: CodePlace,
  ): InstrumentedCall | undefined {
    const { op, codeIndex } = instruction;
    const args = instruction.args.map((operand) => read(operand, registers, program.constants));
    if (op !== LinkedOp.invoke && op !== LinkedOp.tailInvoke) {
      const { name, kind } = this.#instructions.entryAt(codeIndex) ?? {};
      if (name === undefined || kind === 'bytecode') return undefined;
      return this.#call({ name, kind: this.#kinds.get(name), args }, place);
    }
    const [callee = null, ...given] = args;
    const captured = callee instanceof ClosureValue ? callee.captured : [];
    const target = callee instanceof ClosureValue ? callee.target : callee;
    if (!(target instanceof PackedFunctionValue)) return undefined;
    const { name } = target;
    return this.#call({ name, kind: this.#kinds.get(name), args: [...given, ...captured] }, place);
  }

  #call(
    { name, args, kind = 'host function' }: CallFields,
    place: CodePlace | undefined,
  ): InstrumentedCall {
    return { name, kind, args, liveBytes: this.#liveBytes, place: () => place };
  }
}
