import type { DistributableStep, StepConstant } from '../step-distributor.ts';
import type { WasmMemory } from '../memory/wasm-memory.ts';
import { type ByteRuns, byteRuns, runsByteLength, scatterRuns } from './byte-runs.ts';
import type { PartOperand } from './part-protocol.ts';
import { PartWorker, type PartWorkerOptions } from './part-worker.ts';
import type { StepTrial } from './step-trial.ts';
import { type Units, UnitSplit } from './unit-split.ts';

interface DistributedStepOptions {
  readonly memory: WasmMemory;
  readonly workers: PartWorkers;
  /** Returns true once the device is destroyed: results of threads are then ignored. */
  readonly isDisposed: () => boolean;
  /** Undefined where the step is always shared. */
  readonly trial: StepTrial | undefined;
}

/** Arguments of a step's function, of which some are addresses of constants. */
interface StepCall {
  readonly args: readonly number[];
  readonly constants: readonly (StepConstant | undefined)[];
}

/** The units of a part, and the bytes of the result that they write. */
interface PartResult extends Units {
  readonly runs: ByteRuns;
}

/** A step of which threads with memories of their own do parts; this one does the first. */
export class DistributedStep {
  readonly #step: DistributableStep;
  readonly #options: DistributedStepOptions;
  #split: UnitSplit | undefined;
  #parts: readonly PartResult[] = [];

  constructor(step: DistributableStep, options: DistributedStepOptions) {
    this.#step = step;
    this.#options = options;
  }

  /** Over when it returns where this thread does all. */
  run(call: StepCall): Promise<void> | undefined {
    const { trial, workers } = this.#options;
    const { available } = workers;
    const way = available.length === 0 ? undefined : (trial?.next() ?? 'shared');
    if (way === 'shared') return this.#share(call, available);
    const started = performance.now();
    this.#step.code.run(...call.args);
    if (way !== undefined && trial?.record(way, performance.now() - started)) {
      this.#dropConstants(call, available);
    }
    return undefined;
  }

  async #share(call: StepCall, workers: readonly PartWorker[]): Promise<void> {
    const { isDisposed, memory, trial } = this.#options;
    const { plan } = this.#step;
    const started = performance.now();
    const [own, ...others] = this.#partsFor(workers.length);
    const answers = others.map((part, i) => this.#request(call, part, workers[i]));
    const ownBegin = performance.now() - started;
    if (own !== undefined) this.#runUnits(call, own);
    const ownEnd = performance.now() - started;
    const results = await Promise.all(answers);
    if (isDisposed()) return;
    const end = performance.now() - started;
    const { output } = plan.access;
    const { byteLength = 0 } = plan.access.values[output] ?? {};
    const target = memory.view(call.args[output] ?? 0, byteLength);
    for (const [i, part] of others.entries()) {
      const bytes = results[i];
      if (bytes !== undefined) {
        scatterRuns(part.runs, bytes, target);
        workers[i]?.spares.add(bytes);
      } else if (part.first < part.end) {
        trial?.giveUp();
        this.#runUnits(call, part);
      }
    }
    const split = this.#split;
    if (split?.isSettled === false) {
      if (!split.record({ ownBegin, ownEnd, end })) return;
      this.#dropConstants(call, workers);
      this.#parts = this.#resultsOf(split);
    } else if (trial?.record('shared', performance.now() - started)) {
      this.#dropConstants(call, workers);
    }
  }

  /** The units of threads, this one first. */
  #partsFor(others: number): readonly PartResult[] {
    if (this.#split !== undefined) return this.#parts;
    const isFixed = this.#options.trial === undefined;
    const split = new UnitSplit(this.#step.plan.units, { others, isFixed });
    this.#split = split;
    this.#parts = this.#resultsOf(split);
    return this.#parts;
  }

  #resultsOf({ ranges }: UnitSplit): readonly PartResult[] {
    const { access } = this.#step.plan;
    return ranges.map(({ first, end }, i) => {
      const written = i === 0 || first === end ? [] : access.writes(first, end);
      return { first, end, runs: byteRuns(written, access.elementByteLength) };
    });
  }

  #runUnits({ args }: StepCall, { first, end }: Units): void {
    if (first < end) this.#step.code.run(...args.slice(0, -2), first, end);
  }

  /** Undefined at once where there is nothing to do, or no room for constants. */
  async #request(
    call: StepCall,
    { first, end, runs }: PartResult,
    worker: PartWorker | undefined,
  ): Promise<ArrayBuffer | undefined> {
    if (worker === undefined || first === end) return undefined;
    const operands = this.#operands(call, { first, end }, worker);
    if (operands === undefined) return undefined;
    const { code, plan } = this.#step;
    const { index, module } = code.source;
    const { output } = plan.access;
    const room = worker.spares.find(runsByteLength(runs));
    return worker.run({ index, operands, first, end, output, runs, room }, module);
  }

  /** The operands of some units for one thread; undefined where the thread has no room for them. */
  #operands(call: StepCall, units: Units, worker: PartWorker): PartOperand[] | undefined {
    const { access, packs, scratch, values } = this.#step.plan;
    const argOfPack = (pack: number): number => call.args[values.length + pack] ?? 0;
    const operands = [
      ...access.values.map(({ byteLength, unitByteLength, packs: replaced }, i) => {
        if (i === access.output) return { kind: 'room', byteLength } as const;
        if (replaced?.every((pack) => argOfPack(pack) !== 0)) return ABSENT;
        return this.#operand(call, i, { ...bytesOf(units, byteLength, unitByteLength), worker });
      }),
      ...packs.map(({ byteLength, unitByteLength }, pack) => {
        if (argOfPack(pack) === 0) return ABSENT;
        const range = bytesOf(units, byteLength, unitByteLength);
        return this.#operand(call, values.length + pack, { ...range, worker });
      }),
      ...scratch.map((byteLength) => ({ kind: 'room', byteLength }) as const),
    ];
    const known = operands.filter((operand) => operand !== undefined);
    return known.length === operands.length ? known : undefined;
  }

  #operand(
    { args, constants }: StepCall,
    i: number,
    { begin, end, worker }: ByteRange & { readonly worker: PartWorker },
  ): PartOperand | undefined {
    const address = (args[i] ?? 0) + begin;
    const bytes = (): ArrayBuffer =>
      worker.spares.copy(this.#options.memory.view(address, end - begin));
    const constant = constants[i];
    if (constant === undefined || constant.buffer.isDestroyed) {
      return { kind: 'bytes', bytes: bytes(), skipped: begin };
    }
    const id = worker.keep(ofRange(constant, { begin, end }), bytes);
    return id === undefined ? undefined : { kind: 'kept', id, skipped: begin };
  }

  /** Threads need none of them for this step any more; another one that does sends them again. */
  #dropConstants({ constants }: StepCall, workers: readonly PartWorker[]): void {
    const { access, packs } = this.#step.plan;
    const all = [...access.values, ...packs];
    const parts = this.#partsFor(workers.length);
    for (const [i, { byteLength, unitByteLength }] of all.entries()) {
      const constant = constants[i];
      if (constant === undefined) continue;
      for (const [thread, worker] of workers.entries()) {
        const units = parts[thread + 1];
        if (units === undefined) continue;
        worker.drop(ofRange(constant, bytesOf(units, byteLength, unitByteLength)));
      }
    }
  }
}

const ABSENT: PartOperand = { kind: 'absent' };

interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/** The bytes of an operand that the units read. */
function bytesOf(
  { first, end }: Units,
  byteLength: number,
  unitByteLength: number | undefined,
): ByteRange {
  if (unitByteLength === undefined) return { begin: 0, end: byteLength };
  return { begin: first * unitByteLength, end: Math.min(end * unitByteLength, byteLength) };
}

const ofRange = ({ buffer, name }: StepConstant, { begin, end }: ByteRange): StepConstant => ({
  buffer,
  name: `${name} ${begin} ${end}`,
});

/** Milliseconds between looks whether threads have started. */
const LOOK_MS = 1;

/** Threads that have memories of their own: all of them, or none once one has failed. */
export class PartWorkers {
  readonly #count: number;
  readonly #options: Omit<PartWorkerOptions, 'onBreak'>;
  readonly #workers: PartWorker[] = [];
  #isStarted = false;
  #isBroken = false;

  constructor(count: number, options: Omit<PartWorkerOptions, 'onBreak'>) {
    this.#count = count;
    this.#options = options;
  }

  /** Threads that work, or will. */
  get count(): number {
    return this.#isBroken ? 0 : this.#count;
  }

  /** Those that may be given work: all, or none. */
  get available(): readonly PartWorker[] {
    return this.#workers.every(({ isReady }) => isReady) ? this.#workers : [];
  }

  /** Milliseconds of a message there and back. */
  get messagesMs(): number {
    return Math.max(0, ...this.#workers.map(({ messagesMs }) => messagesMs));
  }

  /** Starts the threads, once: programs that share no work do without. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (let i = 0; i < this.#count && !this.#isBroken; i++) {
      const worker = new PartWorker({ ...this.#options, onBreak: () => this.dispose() });
      if (this.#isBroken) worker.terminate();
      else this.#workers.push(worker);
    }
  }

  /** Resolves when all have started, or never will. */
  async ready(): Promise<void> {
    const end = performance.now() + this.#options.patienceMs;
    while (this.#workers.length > 0 && this.available.length === 0) {
      if (performance.now() > end) this.dispose();
      await new Promise((wake) => setTimeout(wake, LOOK_MS));
    }
  }

  /** Ends all threads: some alone are of no use. */
  dispose(): void {
    this.#isBroken = true;
    for (const worker of this.#workers.splice(0)) worker.terminate();
  }
}
