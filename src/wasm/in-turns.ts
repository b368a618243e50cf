import type { Expression } from './expression.ts';
import type { Statement } from './statement.ts';

/** Instructions that wait for each other, of more than which a processor does not look ahead to the next list. */
const LONG = 12;
/** Instructions for each one of the longest path, from which on there is enough to do in one list. */
const PARALLEL = 5;
/** And below which so little is to do that more lists than {@link LISTS} fit into registers. */
const SERIAL = 1.45;

const LISTS = 4;
const SERIAL_LISTS = 6;

/**
 * The number of lists like this one that {@link inTurns} does best: with six in place of four tanh takes
 * 0.87 of the time, sigmoid and erf 0.94; the logarithm, of which more values live at once, 1.2.
 */
export function listsFor(list: readonly Statement[]): number {
  const { count, longest } = pathsOf(list);
  return longest > LONG && count < SERIAL * longest ? SERIAL_LISTS : LISTS;
}

/**
 * The same work on several elements, each in a list of its own. Where many instructions wait for the one
 * before, statements of all lists go by turns. Else one list goes after the other, which takes fewer
 * registers.
 */
export function inTurns(lists: readonly (readonly Statement[])[]): readonly Statement[] {
  const [first = []] = lists;
  const { count, longest } = pathsOf(first);
  if (longest <= LONG || count >= PARALLEL * longest) return lists.flat();
  return first.flatMap((_, i) => lists.flatMap((list) => list[i] ?? []));
}

/** Instructions, and those of the longest path from one to the next; none where there are loops and conditions. */
function pathsOf(statements: readonly Statement[]): { count: number; longest: number } {
  const depths = new Map<symbol, number>();
  let [count, longest] = [0, 0];
  const depthOf = (expression: Expression): number => {
    if (expression.kind === 'local') return depths.get(expression.id) ?? 0;
    const operands = operandsOf(expression);
    if (operands.length === 0) return 0;
    count++;
    return 1 + Math.max(...operands.map(depthOf));
  };
  for (const statement of statements) {
    if (statement.kind !== 'set' && statement.kind !== 'store') return { count: 0, longest: 0 };
    const depth = depthOf(statement.value);
    longest = Math.max(longest, depth);
    if (statement.kind === 'set') depths.set(statement.target.id, depth);
  }
  return { count, longest };
}

/** Those that an expression computes with, of memory none. */
function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'local':
    case 'constant':
    case 'load':
      return [];
    case 'operation':
    case 'lane':
      return expression.operands;
    case 'select':
      return [expression.condition, expression.whenTrue, expression.whenFalse];
    case 'shuffle':
      return [expression.left, expression.right];
    case 'madd':
      return [expression.a, expression.b, expression.c];
    default:
      return expression satisfies never;
  }
}
