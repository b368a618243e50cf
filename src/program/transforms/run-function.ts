import { DataValue } from '../data/data-value.ts';
import { type NdArray, wrap } from '../nd-array.ts';
import { stateOf } from '../operand.ts';
import { ProgramCore } from '../program.ts';
import { mapTree } from '../data/tree.ts';
import type { LeafSpec } from '../data/value-spec.ts';
import { isArgumentLeaf, mapArguments } from './function-arguments.ts';

/** A value among arguments, by its number. */
class Place {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Runs what a function writes down, outside of programs: as a program for the types of its arguments. The function runs
 * each time, since what it does may depend on more than these; what it writes is compiled once.
 */
export function runFunction(
  name: string,
  args: readonly unknown[],
  body: (args: readonly unknown[]) => unknown,
): unknown {
  const values: (NdArray | DataValue)[] = [];
  const specs: LeafSpec[] = [];
  const places = mapArguments(args, (value) => {
    if (value instanceof DataValue) {
      values.push(value);
      specs.push(value.spec);
    } else {
      const state = stateOf(value);
      values.push(wrap(state));
      specs.push({ ...state.type, kind: 'array' });
    }
    return new Place(values.length - 1);
  });
  const filled = (params: readonly unknown[]): readonly unknown[] =>
    places.map((place) =>
      mapTree(place, isArgumentLeaf, (leaf) => (leaf instanceof Place ? params[leaf.index] : leaf)),
    );
  const core = new ProgramCore({
    params: specs,
    result: undefined,
    body: (params: readonly unknown[]) => body(filled(params)),
    options: { name },
    isShared: true,
  });
  return core.call(values);
}
