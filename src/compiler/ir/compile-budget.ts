import {
  type CompileLimits,
  compileLimitError,
  DEFAULT_LIMITS,
  type LimitName,
  requireLimits,
} from '../../core/compile-limits.ts';
import { CompileLimitError } from '../../core/errors.ts';
import { withTensorMemory } from '../../core/tensor-memory.ts';

/** Weights are often transposed or converted; constants that grow out of nothing are not. */
const FOLDED_BYTES_PER_MODEL_BYTE = 4;

const CALLS_PER_NODE = 4;

/** Large models take longer to compile, by as much on a slow machine. */
const MILLISECONDS_PER_NODE = 1;

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 256;

type Amounts = Record<LimitName, number>;

/** Milliseconds between two reports of the place. */
const REPORT_INTERVAL = 100;

export interface BudgetOptions {
  /** The most results times operands that one constant is computed of. */
  readonly work?: number | undefined;
  /** The most milliseconds between two turns of others; see {@link CompileBudget.run}. */
  readonly turnMilliseconds?: number | undefined;
  /** Told of the time that there is, once it is known. */
  readonly onTime?: ((milliseconds: number) => void) | undefined;
  /** Told now and then of where compiling is. */
  readonly onPlace?: ((place: string) => void) | undefined;
}

/** Node's, which tells how long the process had a processor. */
const { process } = globalThis as { process?: Partial<NodeJS.Process> };

/** Time in milliseconds; on a busy machine, where that can be told, that of the processor. */
class Clock {
  readonly #start = performance.now();
  readonly #startOnProcessor = processorTime();
  /** How much later it was, when last asked, than the processor worked. */
  #waited = 0;

  /**
   * Returns false if {@link elapsed} is certainly not above so many milliseconds: since it was last
   * read, it has grown by no more than the time that went by. Asking the processor each time took a
   * twentieth of compiling.
   */
  mayBePast(milliseconds: number): boolean {
    return performance.now() - this.#start - this.#waited > milliseconds;
  }

  get elapsed(): number {
    const elapsed = performance.now() - this.#start;
    const onProcessor = processorTime() - this.#startOnProcessor;
    if (onProcessor <= 0) return elapsed;
    this.#waited = Math.max(0, elapsed - onProcessor);
    return Math.min(elapsed, onProcessor);
  }
}

function processorTime(): number {
  const usage = process?.cpuUsage?.();
  return usage === undefined ? 0 : (usage.user + usage.system) / 1000;
}

let inForce: CompileBudget | undefined;

/**
 * Counts what compiling takes and stops it at a limit. Compiling does not wait, so that one budget at
 * a time is in force: loops of passes report to it without having been handed it.
 */
export class CompileBudget {
  readonly #limits: Amounts;
  readonly #isGiven: ReadonlySet<string>;
  #nodes = 0;
  #calls = 0;
  #foldedBytes = 0;
  readonly #clock = new Clock();
  #steps = 0;
  #turnEnd = Infinity;
  #reported = 0;
  readonly #options: BudgetOptions;
  /** The place in the program that is being compiled, for messages. */
  place: string | (() => string) = 'compiler';

  /** Throws UsageError for limits that are no positive numbers. */
  constructor(limits: CompileLimits = {}, options: BudgetOptions = {}) {
    requireLimits(limits);
    this.#options = options;
    const { nodes, foldedBytes, milliseconds } = limits;
    this.#limits = {
      nodes: nodes ?? DEFAULT_LIMITS.nodes,
      foldedBytes: foldedBytes ?? DEFAULT_LIMITS.foldedBytes,
      milliseconds: milliseconds ?? DEFAULT_LIMITS.milliseconds,
    };
    const given = Object.entries(limits).filter(([, value]) => value !== undefined);
    this.#isGiven = new Set(given.map(([name]) => name));
  }

  /** Weights of a model, which are there anyway, let the default for tensors grow. */
  addWeights(byteLength: number): void {
    if (this.#isGiven.has('foldedBytes')) return;
    this.#limits.foldedBytes += byteLength * FOLDED_BYTES_PER_MODEL_BYTE;
  }

  /** Nodes as the file has them: the default for time grows with them. */
  addWrittenNodes(count: number): void {
    this.place = 'ONNX model';
    if (count > this.#limits.nodes) this.#refuse('nodes', count);
    if (!this.#isGiven.has('milliseconds')) {
      this.#limits.milliseconds += count * MILLISECONDS_PER_NODE;
    }
    this.#options.onTime?.(this.#limits.milliseconds);
  }

  /** {@link addWrittenNodes} of a program in the compiler's language. */
  addWrittenCalls(count: number): void {
    this.addWrittenNodes(Math.ceil(count / CALLS_PER_NODE));
    this.place = 'program';
  }

  /** A constant is about to be computed. */
  startFold(place: () => string, work: number): void {
    this.place = place;
    this.checkTime();
    if (work <= (this.#options.work ?? Infinity)) return;
    throw new CompileLimitError({ where: place(), got: `${work} products`, expected: 'fewer' });
  }

  /**
   * Runs `work` with this budget in force. Throws CompileLimitError, also for a stack or an array that
   * is too large.
   */
  run<T>(work: () => T): T {
    this.#turnEnd = this.#clock.elapsed + (this.#options.turnMilliseconds ?? Infinity);
    try {
      return withBudget(this, () => withTensorMemory((byteLength) => this.#fold(byteLength), work));
    } catch (thrown) {
      throw thrown instanceof RangeError ? this.#tooLarge(thrown) : thrown;
    }
  }

  /** Another node of a model is to be imported. */
  addNode(place: string): void {
    this.place = place;
    if (++this.#nodes > this.#limits.nodes) this.#refuse('nodes', this.#nodes);
    this.checkTime();
  }

  /** Another call of an operator was made of a node. */
  addCall(): void {
    this.requireCalls(++this.#calls);
    this.step();
  }

  /** The program has so many calls now. */
  requireCalls(count: number): void {
    const nodes = Math.ceil(count / CALLS_PER_NODE);
    if (nodes > this.#limits.nodes) this.#refuse('nodes', nodes);
  }

  /** A step of a loop over a program was done. */
  step(): void {
    if (++this.#steps % STEPS_PER_LOOK === 0) this.checkTime();
  }

  checkTime(): void {
    if (!this.#clock.mayBePast(this.#nextMark)) return;
    const milliseconds = this.#clock.elapsed;
    if (milliseconds > this.#limits.milliseconds) this.#refuse('milliseconds', milliseconds);
    if (milliseconds > this.#turnEnd) {
      const got = 'a turn that is too long';
      throw new CompileLimitError({ where: this.#where, got, expected: 'a shorter one' });
    }
    if (this.#options.onPlace && milliseconds > this.#reported + REPORT_INTERVAL) {
      this.#reported = milliseconds;
      this.#options.onPlace(this.#where);
    }
  }

  /** When {@link checkTime} has something to do next. */
  get #nextMark(): number {
    const report = this.#options.onPlace ? this.#reported + REPORT_INTERVAL : Infinity;
    return Math.min(this.#limits.milliseconds, this.#turnEnd, report);
  }

  #fold(byteLength: number): void {
    this.#foldedBytes += byteLength;
    if (!(this.#foldedBytes <= this.#limits.foldedBytes)) {
      this.#refuse('foldedBytes', this.#foldedBytes);
    }
    if (byteLength > LARGE_TENSOR) this.checkTime();
  }

  #refuse(limit: LimitName, reached: number): never {
    throw compileLimitError({ limit, reached, most: this.#limits[limit], where: this.#where });
  }

  get #where(): string {
    const place = typeof this.place === 'string' ? this.place : this.place();
    if (place.length <= 2 * SHOWN_LENGTH) return place;
    return `${place.slice(0, SHOWN_LENGTH)} … ${place.slice(-SHOWN_LENGTH)}`;
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

const LARGE_TENSOR = 2 ** 16;

/** Characters of a place in a message; of a longer one its begin and its end are shown. */
const SHOWN_LENGTH = 120;

function withBudget<T>(budget: CompileBudget, work: () => T): T {
  const former = inForce;
  inForce = budget;
  try {
    return work();
  } finally {
    inForce = former;
  }
}

/** A step of a loop over a program was done; counts for the budget in force, if there is one. */
export function compileStep(): void {
  inForce?.step();
}

/** The budget that holds for what is compiled now. */
export function budgetInForce(): CompileBudget | undefined {
  return inForce;
}
