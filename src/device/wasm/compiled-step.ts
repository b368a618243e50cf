import { internalError } from '../../core/errors.ts';
import type { DeviceTensor, PrepackingBudget } from '../device.ts';
import type { LaunchRecorder } from './launch-recorder.ts';
import type { MemoryChecks, LoadedCode } from './module-compiler.ts';
import type { ConstantPack, PackedConstants } from './memory/packed-constants.ts';
import type { RunStep, StepConstant, StepDistributor } from './step-distributor.ts';
import type { StepPlan } from './step-plan.ts';
import { MOST_ARGS } from './threads/thread-control.ts';
import type { ThreadPool } from './threads/thread-pool.ts';
import { asWasmBuffer } from './memory/wasm-memory.ts';

/** The part of a device that steps need. */
export interface StepMachine {
  readonly packed: PackedConstants;
  /** Checks accesses, on a device that checks all of them. */
  readonly checks: MemoryChecks | undefined;
  readonly threads: ThreadPool | undefined;
  readonly distributor: StepDistributor | undefined;
  /** The recording in progress, if there is one; launches are added to it. */
  readonly recording: LaunchRecorder | undefined;
  /** All of the memory; another object after it grew. */
  readonly bytes: ArrayBuffer;
  /** True if a launch runs at once: nothing is recorded, and no earlier launch is unfinished. */
  readonly isImmediate: boolean;
  /** Does something in order with launches. */
  submit(task: () => void): void;
  /** Address of temporary memory; it grows to the largest request, and then moves. */
  scratch(slot: number, byteLength: number): number;
}

interface StepCode {
  readonly step: LoadedCode;
  /** The functions of the packs, in their order. */
  readonly packs: readonly LoadedCode[];
  /** The budget for packed constants; without it they are packed in each call. */
  readonly prepacking: PrepackingBudget | undefined;
}

/** Slots below are for values of primitives; then each thread has so many. */
const FIRST_SLOT = 1024;

/** A step over the memory of its values. */
export class CompiledStep {
  readonly #plan: StepPlan;
  readonly #code: StepCode;
  readonly #machine: StepMachine;
  readonly #args: number[];
  /** The packed constants of each pack; undefined where they are packed in each call. */
  readonly #constantPacks: readonly ConstantPack[] | undefined;
  /** The arguments for each thread, where several share the work. */
  #threadArgs: number[][] | undefined;
  /** The number of the step's function for threads. */
  #index = 0;
  /** Runs the step in parts, where threads with memories of their own may help. */
  readonly #distributed: RunStep | undefined;

  constructor(plan: StepPlan, code: StepCode, machine: StepMachine) {
    this.#plan = plan;
    this.#code = code;
    this.#machine = machine;
    this.#constantPacks = constantPacks(plan, code, machine.checks);
    this.#args = plan.params.map(() => 0);
    this.#args[this.#args.length - 1] = plan.units;
    const { distributor, threads } = machine;
    const { access } = plan;
    this.#distributed =
      access && distributor?.distribute({ plan: { ...plan, access }, code: code.step });
    if (threads === undefined || plan.work < threads.leastSharedWork) return;
    if (plan.units < 2 || plan.params.length > MOST_ARGS) return;
    threads.start();
    this.#index = code.step.share();
    this.#threadArgs = Array.from({ length: threads.count }, () => [...this.#args]);
  }

  /** Does it, and notes it down where that is asked for. */
  run(
    addresses: readonly number[],
    tensors: readonly DeviceTensor[],
    recording: LaunchRecorder | undefined,
  ): void {
    const { values, packs, scratch } = this.#plan;
    const args = this.#args;
    let at = 0;
    for (let i = 0; i < values.length; i++) args[at++] = addressAt(addresses, values[i]);
    for (let i = 0; i < packs.length; i++) {
      const known = this.#prepacked(i, tensors);
      const isLeft = packs[i]?.isOptional === true;
      args[at++] = known ?? (isLeft ? 0 : this.#pack(i, addresses, recording));
    }
    for (let i = 0; i < scratch.length; i++) args[at++] = this.#scratch(i, 0);
    args[at] = 0;
    args[at + 1] = this.#plan.units;
    if (this.#distributed !== undefined) {
      this.#distribute(this.#distributed, tensors, recording);
    } else if (this.#machine.distributor?.isIdle === false) {
      const run = this.#runner([...args]);
      recording?.addStep(run);
      run();
    } else {
      recording?.addStep(this.#runner([...args]));
      this.#execute(args);
    }
  }

  /** Does it with these arguments each time. */
  #runner(args: number[]): () => void {
    const { distributor } = this.#machine;
    const { run } = this.#code.step;
    if (distributor !== undefined) return () => distributor.submit(() => run(...args));
    return this.#threadArgs === undefined ? () => run(...args) : () => this.#execute(args);
  }

  #distribute(
    run: RunStep,
    tensors: readonly DeviceTensor[],
    recording: LaunchRecorder | undefined,
  ): void {
    const args = [...this.#args];
    const constants = this.#constants(tensors);
    recording?.addStep(() => run(args, constants));
    run(args, constants);
  }

  /** The constants among the arguments, by the index of the argument. */
  #constants(tensors: readonly DeviceTensor[]): (StepConstant | undefined)[] {
    const constantAt = (value: number, layout: string): StepConstant | undefined => {
      const tensor = tensors[value];
      if (tensor?.isReadOnly !== true) return undefined;
      const { buffer, byteOffset } = tensor;
      return { buffer: asWasmBuffer(buffer), name: `${byteOffset} ${layout}` };
    };
    return [
      ...this.#plan.values.map((value) => constantAt(value, '')),
      ...this.#plan.packs.map(({ value, layout }) => constantAt(value, layout)),
    ];
  }

  #execute(args: number[]): void {
    const { threads } = this.#machine;
    if (this.#threadArgs !== undefined && threads?.isReady() === true) {
      this.#share(threads, this.#threadArgs, args);
    } else {
      this.#code.step.run(...args);
    }
  }

  /** Each thread does some units, with temporaries of its own; this one the first. */
  #share(threads: ThreadPool, threadArgs: readonly number[][], args: number[]): void {
    const { scratch, units } = this.#plan;
    const parts = threads.count + 1;
    const ofUnits = args.length - 2;
    const ofScratch = ofUnits - scratch.length;
    const beginOf = (part: number): number => Math.floor((units * part) / parts);
    for (const [thread, own] of threadArgs.entries()) {
      for (let i = 0; i < ofScratch; i++) own[i] = args[i] ?? 0;
      for (let i = 0; i < scratch.length; i++) own[ofScratch + i] = this.#scratch(i, thread + 1);
      own[ofUnits] = beginOf(thread + 1);
      own[ofUnits + 1] = beginOf(thread + 2);
    }
    args[ofUnits + 1] = beginOf(1);
    const { run } = this.#code.step;
    threads.run(this.#index, threadArgs, { code: run, args });
    args[ofUnits + 1] = units;
  }

  /** The address of a constant in the layout that the step reads; undefined where it is not kept in it. */
  #prepacked(i: number, tensors: readonly DeviceTensor[]): number | undefined {
    const constantPack = this.#constantPacks?.[i];
    const tensor = tensors[constantPack?.pack.value ?? -1];
    if (constantPack === undefined || tensor?.isReadOnly !== true) return undefined;
    const { checks, packed } = this.#machine;
    const known = packed.find(tensor, constantPack);
    if (known !== undefined) checks?.allow(known, constantPack.pack.byteLength);
    return known;
  }

  /** The address of an operand that is brought into the layout now. */
  #pack(i: number, addresses: readonly number[], recording: LaunchRecorder | undefined): number {
    const [pack, code] = [this.#plan.packs[i], this.#code.packs[i]];
    if (pack === undefined || code === undefined) throw internalError(`no pack ${i}`);
    const [from, to] = [addressAt(addresses, pack.value), this.#unpacked(i)];
    if (this.#machine.isImmediate) code.run(from, to);
    else {
      const run = (): void => this.#machine.submit(() => code.run(from, to));
      recording?.addStep(run);
      run();
    }
    return to;
  }

  #scratch(i: number, thread: number): number {
    const slot = FIRST_SLOT * (thread + 1) + i;
    return this.#temporary(slot, this.#plan.scratch[i] ?? 0);
  }

  /** Room for an operand that is packed in each call. */
  #unpacked(i: number): number {
    const { packs, scratch } = this.#plan;
    return this.#temporary(FIRST_SLOT + scratch.length + i, packs[i]?.byteLength ?? 0);
  }

  #temporary(slot: number, byteLength: number): number {
    const address = this.#machine.scratch(slot, byteLength);
    this.#machine.checks?.allow(address, byteLength);
    return address;
  }
}

function constantPacks(
  { packs }: StepPlan,
  { packs: codes, prepacking }: StepCode,
  checks: MemoryChecks | undefined,
): readonly ConstantPack[] | undefined {
  if (prepacking === undefined) return undefined;
  return packs.map((pack, i) => {
    const run = codes[i]?.run;
    if (run === undefined) throw internalError(`no pack ${i}`);
    const code = checks?.around(run, pack.byteLength) ?? run;
    return { pack, code, budget: prepacking };
  });
}

function addressAt(addresses: readonly number[], value: number | undefined): number {
  const address = addresses[value ?? -1];
  if (address === undefined) throw internalError(`value ${value} has no memory`);
  return address;
}
