import { firstDifference, type Tolerance } from '../../core/tensor/all-close.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { evaluateModule, type EvaluationOptions } from '../evaluation/evaluate-module.ts';
import type { ReferenceValue } from '../evaluation/reference-value.ts';
import type { Module } from '../ir/expr.ts';
import type { PassInstrument, PassRun } from './pass-instrument.ts';

/** The arguments of a bisection and how exact it is. */
interface BisectionOptions extends Pick<EvaluationOptions, 'functions'> {
  /** Arguments of the function, in the order of its parameters. */
  readonly inputs: readonly ReferenceValue[];
  /** The global function that is called. Default: `main`. */
  readonly function?: string | undefined;
  /** How far results may be from those of the source. Default: rtol 1e-4, atol 1e-5; integers are exact. */
  readonly tolerance?: Tolerance | undefined;
}

/** A pass after which a program gives something else. */
interface ChangedResult {
  readonly pass: string;
  /** Where and by how much the result differs, or the error that the program ends with. */
  readonly difference: string;
  readonly before: Module;
  readonly after: Module;
}

/** A pass after which the program could not be computed. */
interface UncheckedPass {
  readonly pass: string;
  /** Why the program could not be computed. */
  readonly reason: string;
}

const DEFAULT_TOLERANCE: Tolerance = { rtol: 1e-4, atol: 1e-5 };

/**
 * An instrument that finds the first pass that changes a result: it computes the program with the host
 * references before the first pass and after each that changes the module. Modules after `plan-memory` have
 * memory in them, which references know nothing of; these passes are listed as unchecked.
 */
export class PassBisection implements PassInstrument {
  readonly #options: BisectionOptions;
  readonly #unchecked: UncheckedPass[] = [];
  readonly #checked: string[] = [];
  #expected: ReferenceValue | undefined;
  #changed: ChangedResult | undefined;
  #hasBegun = false;

  constructor(options: BisectionOptions) {
    this.#options = options;
  }

  /** The first pass that changed the result; undefined: none did. */
  get changed(): ChangedResult | undefined {
    return this.#changed;
  }

  /** Passes after which the result was compared, in order. */
  get checked(): readonly string[] {
    return this.#checked;
  }

  /** Passes after which the program could not be computed. */
  get unchecked(): readonly UncheckedPass[] {
    return this.#unchecked;
  }

  /** The result of the program as it came; undefined until a module could be computed. */
  get expected(): ReferenceValue | undefined {
    return this.#expected;
  }

  /** Computes what the program gives as it came. */
  beforePass({ before, context }: Omit<PassRun, 'after'>): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const result = this.#evaluate(before, context);
    if (typeof result === 'string') this.#unchecked.push({ pass: 'source', reason: result });
    else this.#expected = result.value;
  }

  /** Computes it again where the pass changed the module. */
  afterPass({ pass, before, after, context }: PassRun): void {
    if (this.#changed !== undefined || after === before) return;
    const result = this.#evaluate(after, context);
    if (typeof result === 'string') {
      this.#unchecked.push({ pass, reason: result });
      return;
    }
    if (this.#expected === undefined) {
      this.#expected = result.value;
      return;
    }
    this.#checked.push(pass);
    const { tolerance = DEFAULT_TOLERANCE } = this.#options;
    const difference = differenceOfValues(result.value, this.#expected, tolerance);
    if (difference !== undefined) this.#changed = { pass, difference, before, after };
  }

  /** The result, or why there is none. */
  #evaluate(
    module: Module,
    { types }: PassRun['context'],
  ): { readonly value: ReferenceValue } | string {
    const { inputs, function: name = 'main', functions } = this.#options;
    try {
      const { operators } = types;
      return { value: evaluateModule(module, name, inputs, { operators, functions }) };
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** Where one value differs from another, in words; undefined where they are close. Functions are not compared. */
function differenceOfValues(
  actual: ReferenceValue,
  expected: ReferenceValue,
  tolerance: Tolerance,
  place = 'result',
): string | undefined {
  if (actual instanceof HostTensor && expected instanceof HostTensor) {
    const difference = firstDifference(actual, expected, tolerance);
    return difference === undefined ? undefined : `${place}: ${difference}`;
  }
  if (typeof actual === 'number' && typeof expected === 'number') {
    const isClose = Object.is(actual, expected) || isNear(actual, expected, tolerance);
    return isClose ? undefined : `${place}: ${actual}, expected ${expected}`;
  }
  const [is, was] = [actual, expected].map(describe);
  if (is !== was) return `${place}: ${is}, expected ${was}`;
  for (const [i, field] of fieldsOf(actual).entries()) {
    const other = fieldsOf(expected)[i];
    if (other === undefined) continue;
    const difference = differenceOfValues(field, other, tolerance, `${place}.${i}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isNear(actual: number, expected: number, { rtol, atol }: Tolerance): boolean {
  if (Number.isInteger(actual) && Number.isInteger(expected)) return actual === expected;
  return Math.abs(actual - expected) <= atol + rtol * Math.abs(expected);
}

function describe(value: ReferenceValue): string {
  if (typeof value === 'number') return 'a number';
  if (value instanceof HostTensor) return 'a tensor';
  if (value.kind === 'function') return 'a function';
  return value.kind === 'tuple' ? `a tuple of ${value.fields.length}` : `data ${value.name}`;
}

function fieldsOf(value: ReferenceValue): readonly ReferenceValue[] {
  const isPlain = typeof value === 'number' || value instanceof HostTensor;
  return isPlain || value.kind === 'function' ? [] : value.fields;
}
