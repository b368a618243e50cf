import {
  type CompileLimits,
  compileLimitError,
  DEFAULT_LIMITS,
  type LimitName,
  requireLimits,
} from '../../core/limits/compile-limits.ts';
import { CompileLimitError, shortPlace } from '../../core/errors.ts';
import { meterInForce, withMeter, type WorkMeter } from '../../core/limits/work-meter.ts';

/** Weights are often transposed or converted; constants that grow out of nothing are not. */
const FOLDED_BYTES_PER_MODEL_BYTE = 4;

const CALLS_PER_NODE = 4;

/** Larger models take more steps. */
const WORK_PER_NODE = 5_000;
const WORK_PER_MODEL_BYTE = 1;

/** Elements that a fold looks at, and bytes of tensors, for which a step is counted. */
const ELEMENTS_PER_STEP = 16;
const BYTES_PER_STEP = 256;

/** Steps between two looks at the clock, where there is one to look at. */
const STEPS_PER_LOOK = 256;

/** Steps between two reports of the place. */
const STEPS_PER_REPORT = 2 ** 14;

export interface BudgetOptions {
  /** The most results times operands that one constant is computed of. */
  readonly foldWork?: number | undefined;
  /** The most milliseconds between two turns of others, see {@link CompileBudget.run}, for what is tried here first. */
  readonly turnMilliseconds?: number | undefined;
  /** Told now and then of where compiling is. */
  readonly onPlace?: ((place: string) => void) | undefined;
}

/**
 * Counts what compiling takes and stops it at a limit. Compiling does not wait, so that one budget at
 * a time is in force: loops of passes report to it without having been handed it. What it counts depends on
 * the program alone. It reads a clock for a limit of time that the caller gave, and for turns that others wait for.
 */
export class CompileBudget implements WorkMeter {
  readonly #limits: Record<LimitName, number>;
  readonly #isGiven: ReadonlySet<string>;
  #nodes = 0;
  #calls = 0;
  #foldedBytes = 0;
  #steps = 0;
  #turnEnd = Infinity;
  #nextReport = STEPS_PER_REPORT;
  /** The steps at which {@link count} has something to do next. */
  #nextMark = 0;
  readonly #isTimed: boolean;
  readonly #start: number;
  readonly #options: BudgetOptions;
  /** The place in the program that is being compiled, for messages. */
  place: string | (() => string) = 'compiler';

  /** Throws UsageError for limits that are no positive numbers. */
  constructor(limits: CompileLimits = {}, options: BudgetOptions = {}) {
    requireLimits(limits);
    const { milliseconds } = limits;
    this.#options = options;
    const given = Object.entries(limits).filter(([, value]) => value !== undefined);
    this.#isGiven = new Set(given.map(([name]) => name));
    this.#limits = { ...DEFAULT_LIMITS, ...Object.fromEntries(given) };
    this.#isTimed = (milliseconds ?? options.turnMilliseconds ?? Infinity) < Infinity;
    this.#start = this.#now();
  }

  #now(): number {
    return this.#isTimed ? performance.now() : 0;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Weights of a model, which are there anyway, let the defaults grow. */
  addWeights(byteLength: number): void {
    this.#raise('foldedBytes', byteLength * FOLDED_BYTES_PER_MODEL_BYTE);
    this.#raise('work', byteLength * WORK_PER_MODEL_BYTE);
  }

  /** Nodes as the file has them: the default for work grows with them. */
  addWrittenNodes(count: number, place = 'ONNX model'): void {
    this.place = place;
    if (count > this.#limits.nodes) this.#refuse('nodes', count);
    this.#raise('work', count * WORK_PER_NODE);
  }

  /** {@link addWrittenNodes} of a program in the compiler's language. */
  addWrittenCalls(count: number): void {
    this.addWrittenNodes(Math.ceil(count / CALLS_PER_NODE));
    this.place = 'program';
  }

  #raise(limit: LimitName, amount: number): void {
    if (!this.#isGiven.has(limit)) this.#limits[limit] += amount;
    this.#nextMark = 0;
  }

  /** A constant is about to be computed. */
  startFold(place: () => string, elements: number): void {
    this.place = place;
    this.count(Math.ceil(elements / ELEMENTS_PER_STEP));
    if (elements <= (this.#options.foldWork ?? Infinity)) return;
    throw new CompileLimitError({ where: place(), got: `${elements} products`, expected: 'fewer' });
  }

  /**
   * Runs `work` with this budget in force. Throws CompileLimitError, also for a stack or an array that
   * is too large.
   */
  run<T>(work: () => T): T {
    this.#turnEnd = this.#now() + (this.#options.turnMilliseconds ?? Infinity);
    this.#nextMark = 0;
    try {
      return withMeter(this, work);
    } catch (thrown) {
      throw thrown instanceof RangeError ? this.#tooLarge(thrown) : thrown;
    }
  }

  /** Another node of a model is to be imported. */
  addNode(place: string): void {
    this.place = place;
    if (++this.#nodes > this.#limits.nodes) this.#refuse('nodes', this.#nodes);
    this.count(1);
  }

  /** Another call of an operator was made of a node. */
  addCall(): void {
    this.requireCalls(++this.#calls);
    this.count(1);
  }

  /** The program has so many calls now. */
  requireCalls(count: number): void {
    const nodes = Math.ceil(count / CALLS_PER_NODE);
    if (nodes > this.#limits.nodes) this.#refuse('nodes', nodes);
  }

  count(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#nextMark) this.#look();
  }

  reserve(byteLength: number): void {
    this.#foldedBytes += byteLength;
    if (!(this.#foldedBytes <= this.#limits.foldedBytes)) {
      this.#refuse('foldedBytes', this.#foldedBytes);
    }
    this.count(Math.ceil(byteLength / BYTES_PER_STEP));
  }

  #look(): void {
    const { work, milliseconds } = this.#limits;
    if (this.#steps > work) this.#refuse('work', this.#steps);
    const now = this.#now();
    if (now - this.#start > milliseconds) this.#refuse('milliseconds', now - this.#start);
    if (now > this.#turnEnd) {
      const got = 'a turn that is too long';
      throw new CompileLimitError({ where: this.#where, got, expected: 'a shorter one' });
    }
    if (this.#options.onPlace && this.#steps > this.#nextReport) {
      this.#nextReport = this.#steps + STEPS_PER_REPORT;
      this.#options.onPlace(this.#where);
    }
    this.#nextMark = Math.min(
      work,
      this.#options.onPlace ? this.#nextReport : Infinity,
      this.#isTimed ? this.#steps + STEPS_PER_LOOK : Infinity,
    );
  }

  #refuse(limit: LimitName, reached: number): never {
    throw compileLimitError({ limit, reached, most: this.#limits[limit], where: this.#where });
  }

  get #where(): string {
    return shortPlace(typeof this.place === 'string' ? this.place : this.place());
  }

  #tooLarge(cause: RangeError): CompileLimitError {
    const where = this.#where;
    return new CompileLimitError(
      {
        where,
        got: `a program that is too large or too deep for this engine (${cause.message})`,
        expected: 'one that fits its stack and its arrays',
        remedy: 'Split the nested code, or reduce its sizes.',
      },
      { cause, details: { limit: 'engine', where } },
    );
  }
}

/** The budget that holds for what is compiled now. */
export function budgetInForce(): CompileBudget | undefined {
  const meter = meterInForce();
  return meter instanceof CompileBudget ? meter : undefined;
}
