import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { Frame } from '../frame.ts';
import type { FunctionLibrary } from '../link/function-library.ts';
import { Invocation } from '../invocation.ts';
import type { LinkedFunction } from '../link/linked-code.ts';
import { link, type LinkedProgram, type LinkOptions } from '../link/link.ts';
import type { PackedFunction, Value } from '../values/value.ts';
import type { VmState } from '../vm-state.ts';

/** One call within a machine. The same object comes before and after it. */
export interface InstrumentedCall {
  /** The name in the function table: of a bytecode function, a builtin, a primitive or a function of the host. */
  readonly name: string;
  /** The kind of the callee. */
  readonly kind: 'bytecode' | 'builtin' | 'kernel' | 'host function';
  /** Arguments, borrowed for the time of the call. */
  readonly args: readonly Value[];
  /** Bytes of storages that the machine holds now, on all devices. */
  liveBytes(): number;
  /**
   * The instruction that calls, once the machine waits for a promise of `after`: of the function that was entered last,
   * where several calls are in flight. Undefined for a call from outside.
   */
  place(): CodePlace | undefined;
}

/**
 * Hooks around every call that a machine makes, of bytecode functions too. An error that a hook throws ends the
 * call from outside. Kernels of WebGPU only enter its queue during a call: their times are those of `profile`.
 */
export interface MachineInstrument {
  /** Called before a call. */
  before?(call: InstrumentedCall): void;
  /**
   * Called after a call, however it ended; after a promise has settled, for one of an async function. `result` is
   * what a builtin, a kernel or a function of the host gave, borrowed; undefined for bytecode and after an error. The
   * machine goes on when a promise has resolved, but for that of bytecode.
   */
  after?(call: InstrumentedCall, result?: Value): void | Promise<void>;
}

/** Links a program with hooks around its calls. A file of its own, loaded where there is an instrument. */
export function instrumented(
  instrument: MachineInstrument,
  state: VmState,
  options: LinkOptions,
): { readonly linked: LinkedProgram; readonly invocation: typeof Invocation } {
  const { libraries, invocation } = new InstrumentedCalls(instrument, state, options);
  return { linked: link(state.program, { ...options, ...libraries }), invocation };
}

/** The parts of a machine that call, with an instrument. */
class InstrumentedCalls {
  /** The class of watched calls, in place of {@link Invocation}. */
  readonly invocation: typeof Invocation;
  /** The libraries to link, with hooks around each of their packed functions. */
  readonly libraries: Pick<LinkOptions, 'kernelLibraries' | 'builtins' | 'hostFunctions'>;
  readonly #instrument: MachineInstrument;
  readonly #liveBytes: () => number;
  /** The call that entered a function last. */
  #entered: Invocation | undefined;

  constructor(
    instrument: MachineInstrument,
    { allocators }: VmState,
    { kernelLibraries, builtins, hostFunctions }: LinkOptions,
  ) {
    this.#instrument = instrument;
    const all = new Set(allocators);
    this.#liveBytes = () =>
      [...all].reduce((sum, allocator) => sum + allocator.counters().liveBytes, 0);
    this.invocation = this.#invocationClass();
    this.libraries = {
      kernelLibraries: kernelLibraries.map((library) => this.#library(library, 'kernel')),
      builtins: this.#library(builtins, 'builtin'),
      hostFunctions: this.#library(hostFunctions, 'host function'),
    };
  }

  #library(library: FunctionLibrary, kind: InstrumentedCall['kind']): FunctionLibrary {
    return {
      name: library.name,
      callCost: (name) => library.callCost(name),
      get: (name) => {
        const call = library.get(name);
        return call && this.#packed(call, name, kind);
      },
      dispose: () => undefined,
    };
  }

  #packed(callee: PackedFunction, name: string, kind: InstrumentedCall['kind']): PackedFunction {
    return (...args) => {
      const call = this.#call(name, kind, args);
      this.#instrument.before?.(call);
      let result: Value | Promise<Value>;
      try {
        result = callee(...args);
      } catch (error) {
        void this.#instrument.after?.(call);
        throw error;
      }
      if (result instanceof Promise) return this.#settled(call, result);
      const waits = this.#instrument.after?.(call, result);
      return waits === undefined ? result : waits.then(() => result);
    };
  }

  async #settled(call: InstrumentedCall, result: Promise<Value>): Promise<Value> {
    let value: Value | undefined;
    try {
      value = await result;
      return value;
    } finally {
      await this.#instrument.after?.(call, value);
    }
  }

  #call(name: string, kind: InstrumentedCall['kind'], args: readonly Value[]): InstrumentedCall {
    return { name, kind, args, liveBytes: this.#liveBytes, place: () => this.#place() };
  }

  #place(): CodePlace | undefined {
    const frame = this.#entered?.frames.at(-1);
    // The frame goes on behind the instruction.
    return frame && { function: frame.function.source.name, instruction: frame.pc - 1 };
  }

  #invocationClass(): typeof Invocation {
    const instrument = this.#instrument;
    const enter = (invocation: Invocation): void => {
      this.#entered = invocation;
    };
    const callOf = ({ source, paramCount }: LinkedFunction, registers: readonly Value[]) =>
      this.#call(source.name, 'bytecode', registers.slice(0, paramCount));
    return class extends Invocation {
      readonly #open: InstrumentedCall[] = [];

      override push(callee: LinkedFunction, registers: Value[]): Frame {
        const call = callOf(callee, registers);
        const frame = super.push(callee, registers);
        enter(this);
        this.#begin(call);
        return frame;
      }

      override replace(frame: Frame, callee: LinkedFunction, registers: Value[]): void {
        const call = callOf(callee, registers);
        super.replace(frame, callee, registers);
        this.#end();
        this.#begin(call);
      }

      override pop(): void {
        super.pop();
        this.#end();
      }

      #begin(call: InstrumentedCall): void {
        this.#open.push(call);
        instrument.before?.(call);
      }

      #end(): void {
        const call = this.#open.pop();
        if (call !== undefined) void instrument.after?.(call);
      }
    };
  }
}
