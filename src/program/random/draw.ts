import { formatType } from '../../compiler/ir/type.ts';
import { type ArrayState, requireLive } from '../array-state.ts';
import { type Entry, within } from '../call-site.ts';
import { LeastRecent } from '../least-recent.ts';
import { type NdArray, wrap } from '../nd-array.ts';
import { ProgramCore } from '../program.ts';
import { currentFrame } from '../trace.ts';
import type { LeafSpec } from '../value-spec.ts';

/** As many draws stay compiled, one for each function, its settings and the types of its operands. */
const MOST_DRAWS = 64;

const DRAWS = new LeastRecent<ProgramCore>(MOST_DRAWS);

/** A function of random numbers: operands, and settings that its operators depend on. */
export interface Draw {
  readonly operands: () => readonly ArrayState[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly write: (operands: readonly ArrayState[]) => ArrayState;
}

/** Writes a function of random numbers into the body of a program, or runs it as a program of its own. */
export function draw(entry: Entry, { operands: given, settings = {}, write }: Draw): NdArray {
  return within(entry, () => {
    const operands = given();
    if (currentFrame() !== undefined) return wrap(write(operands));
    for (const operand of operands) requireLive(operand);
    const types = operands.map(({ type }) => formatType(type)).join(' ');
    const key = `${entry.name} ${types} ${JSON.stringify(settings)}`;
    const core = DRAWS.of(key, () => {
      const params = operands.map(({ type }): LeafSpec => ({ ...type, kind: 'array' }));
      const body = (args: readonly NdArray[]): NdArray =>
        within(entry, () => wrap(write(args.map(({ state }) => state))));
      const source = { params, result: undefined, body, options: { name: entry.name } };
      return new ProgramCore({ ...source, isShared: true });
    });
    return core.call(operands.map(wrap)) as NdArray;
  });
}
