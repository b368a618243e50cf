import type { LaunchBuffer } from '../../../core/contracts/launch-plan.ts';
import { isBigInt } from '../../../core/tensor/dtype.ts';
import { elementCount, sameShape } from '../../../core/tensor/shape.ts';
import type { TypedCall, TypedPrimitive } from './typed-primitive.ts';

/** One piece of a primitive: an anchor with what is fused behind it, or values without anchors. */
type Step = AnchorStep | MapStep;

export interface AnchorStep {
  readonly kind: 'anchor';
  readonly call: TypedCall;
  /** The value whose elements the kernel stores: the anchor's own or its last fused consumer's. */
  readonly output: number;
  /** That value, or a permutation of its axes, in which order the elements are then stored. */
  readonly stored: number;
  /** The value that is stored there before, which the kernel changes; undefined where the caller has seen to that. */
  readonly begins?: number | undefined;
}

export interface MapStep {
  readonly kind: 'map';
  /** Values stored by one kernel; they have equal element counts. */
  readonly values: readonly number[];
  /** Other buffers than those where others read them. */
  readonly into?: readonly LaunchBuffer[];
}

/**
 * Cuts a primitive into steps in an order in which every step reads only parameters, values of
 * earlier steps, and what can be computed from those in place.
 */
export function partitionPrimitive(typed: TypedPrimitive): Step[] {
  const graph = new ValueGraph(typed);
  const steps: Step[] = [];
  const stored = new Set<number>();
  for (const call of typed.calls) {
    if (!isAnchor(call)) continue;
    for (const value of operandsToStore(call, graph, stored)) {
      steps.push({ kind: 'map', values: [value] });
      stored.add(value);
    }
    const overwritten = call.op.storage?.overwrites;
    if (overwritten !== undefined) {
      const isWhole = typed.overwrites !== undefined;
      const begins = isWhole ? undefined : call.inputs[overwritten];
      steps.push({ kind: 'anchor', call, output: call.value, stored: call.value, begins });
      stored.add(call.value);
      continue;
    }
    const output = fusedOutput(call, graph, stored);
    const last = graph.permutedInto(output) ?? output;
    steps.push({ kind: 'anchor', call, output, stored: last });
    stored.add(last);
  }
  return [...steps, ...mapSteps(typed, stored)];
}

/** Results that no anchor stores, grouped by element count so that one kernel writes them. */
function mapSteps(typed: TypedPrimitive, stored: ReadonlySet<number>): MapStep[] {
  const byShape = new Map<string, number[]>();
  for (const value of new Set(typed.results)) {
    if (stored.has(value)) continue;
    const key = String(elementCount(typed.types[value]?.shape ?? []));
    byShape.set(key, [...(byShape.get(key) ?? []), value]);
  }
  return [...byShape.values()].map((values) => ({ kind: 'map', values }));
}

/**
 * Operands of an anchor that reads each element many times: where finding one takes an index
 * computation, it is done once, into scratch.
 */
function operandsToStore(
  call: TypedCall,
  graph: ValueGraph,
  stored: ReadonlySet<number>,
): number[] {
  if (call.op.kind !== 'anchor') return [];
  return [...new Set(call.inputs)].filter(
    (input) => input >= 0 && !stored.has(input) && graph.needsIndexMap(input, stored),
  );
}

/**
 * The farthest value to which everything that uses the anchor leads through elementwise calls of
 * the same element count, so that the kernel can store that value instead of the anchor's.
 */
function fusedOutput(call: TypedCall, graph: ValueGraph, stored: ReadonlySet<number>): number {
  let output = call.value;
  for (let value = call.value + 1; value < graph.valueCount; value++) {
    if (graph.canStoreInstead(call.value, value, stored)) output = value;
  }
  return output;
}

function isAnchor(call: TypedCall): boolean {
  return call.op.kind === 'anchor' || call.op.kind === 'reduction';
}

class ValueGraph {
  readonly #typed: TypedPrimitive;
  readonly #results: ReadonlySet<number>;

  constructor(typed: TypedPrimitive) {
    this.#typed = typed;
    this.#results = new Set(typed.results);
  }

  get valueCount(): number {
    return this.#typed.types.length;
  }

  #call(value: number): TypedCall | undefined {
    return this.#typed.calls[value - this.#typed.paramCount];
  }

  #shape(value: number): readonly number[] {
    return this.#typed.types[value]?.shape ?? [];
  }

  /** Returns true if an element of `value` can be computed in place only through an index map. */
  needsIndexMap(value: number, stored: ReadonlySet<number>): boolean {
    return this.#takes(value, stored, ({ op }) => {
      return op.kind === 'injective' && op.indexMap?.keepsOrder !== true;
    });
  }

  /**
   * Returns true if computing `value` in place takes a call of which `isSuch` is true. Visits each
   * value once: there are far more paths to a value than values.
   */
  #takes(
    value: number,
    stored: ReadonlySet<number>,
    isSuch: (call: TypedCall) => boolean,
  ): boolean {
    const seen = new Set([value]);
    for (const next of seen) {
      const call = stored.has(next) ? undefined : this.#call(next);
      if (call === undefined) continue;
      if (isSuch(call)) return true;
      for (const input of call.inputs) if (input >= 0) seen.add(input);
    }
    return false;
  }

  canStoreInstead(anchor: number, output: number, stored: ReadonlySet<number>): boolean {
    const between = this.#dependents(anchor, output);
    if (!between.has(output)) return false;
    const inside = new Set([anchor, ...between]);
    // Kernels that store four elements at once have no vectors of 64-bit integers.
    if (!this.#isWide(anchor) && [...inside].some((value) => this.#isWide(value))) return false;
    for (const value of inside) {
      if (value !== anchor && !this.#isFusable(value, inside, stored)) return false;
      if (value === output) continue;
      if (this.#results.has(value)) return false;
      if (this.#users(value).some((user) => !inside.has(user))) return false;
    }
    return true;
  }

  #isWide(value: number): boolean {
    return isBigInt(this.#typed.types[value]?.dtype ?? 'float32');
  }

  /** The value, if there is one, that is all that anybody wants of this one: its permutation. */
  permutedInto(value: number): number | undefined {
    const [user, ...others] = this.#users(value);
    if (user === undefined || others.length > 0 || this.#results.has(value)) return undefined;
    return this.#call(user)?.op.indexMap?.permutation === undefined ? undefined : user;
  }

  /** Values up to `last` that depend on `source`. */
  #dependents(source: number, last: number): Set<number> {
    const found = new Set([source]);
    for (const { value, inputs } of this.#typed.calls) {
      if (value > source && value <= last && inputs.some((input) => found.has(input))) {
        found.add(value);
      }
    }
    found.delete(source);
    return found;
  }

  #users(value: number): number[] {
    return this.#typed.calls.filter(({ inputs }) => inputs.includes(value)).map((c) => c.value);
  }

  #isFusable(value: number, inside: ReadonlySet<number>, stored: ReadonlySet<number>): boolean {
    const call = this.#call(value);
    if (call === undefined) return false;
    const keepsOrder = call.op.indexMap?.keepsOrder === true;
    if (call.op.kind !== 'elementwise' && !keepsOrder) return false;
    const shape = this.#shape(value);
    return call.inputs.every((input) => {
      if (input < 0) return true;
      if (!inside.has(input)) return !this.#needsAnchor(input, stored);
      if (keepsOrder) return true;
      const from = this.#shape(input);
      return sameShape(from, shape) || elementCount(from) === elementCount(shape);
    });
  }

  /** Returns true if computing `value` in place takes an anchor that has not run yet. */
  #needsAnchor(value: number, stored: ReadonlySet<number>): boolean {
    return this.#takes(value, stored, isAnchor);
  }
}
