import { f32, i32, type Local, local, locals } from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { FLOAT } from '../../wasm/address.ts';
import { countedTaps } from './counted-taps.ts';
import { type VolumeAxes, type WindowAxis } from './window.ts';

interface Counted {
  readonly axes: VolumeAxes;
  readonly countsPad: boolean;
}

/** Elements of a window. */
export function windowElements(axes: VolumeAxes): number {
  return axes.reduce((product, { kernel }) => product * kernel, 1);
}

/** Returns true if all elements of all windows count. */
export function isEqualCount({ axes, countsPad }: Counted): boolean {
  return axes.every((axis) => countsOf(axis, countsPad).every((count) => count === axis.kernel));
}

function countsOf(axis: WindowAxis, countsPad: boolean): number[] {
  return Array.from({ length: axis.count }, (_, i) =>
    // No window is empty as a divisor.
    Math.max(countedTaps(axis, i * axis.stride - axis.padBefore, countsPad), 1),
  );
}

/**
 * `count(to)`: for each position along depth, height and width the elements of its window that count,
 * as floats; three more are behind them, so that vectors can be read.
 */
export function countFunction({ axes, countsPad }: Counted): {
  readonly function: WasmFunction;
  readonly byteLength: number;
} {
  const to = local('i32');
  const counts = axes.flatMap((axis) => countsOf(axis, countsPad));
  return {
    function: { name: 'count', params: [to], body: storeRuns([...counts, 1, 1, 1], to) },
    byteLength: (counts.length + 3) * FLOAT,
  };
}

/** Numbers one after the other; a loop for each run of equal ones. */
function storeRuns(values: readonly number[], to: Local): Statement[] {
  const [at, index] = locals(2);
  const statements: Statement[] = [s.set(at, to)];
  for (let begin = 0; begin < values.length; ) {
    const value = values[begin] ?? 1;
    const next = values.findIndex((other, i) => i > begin && other !== value);
    const end = next === -1 ? values.length : next;
    statements.push(
      ...s.loop({ index, end: i32(end - begin) }, [
        s.store('f32', { address: at }, f32(value)),
        s.increment(at, FLOAT),
      ]),
    );
    begin = end;
  }
  return statements;
}
