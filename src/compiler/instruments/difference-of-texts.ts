import { requireKind } from '../../core/check-options.ts';
import { diffArrays } from 'diff';
import { printModule } from '../ir/text/print.ts';
import type { PassInstrument } from './pass-instrument.ts';

/** So many equal lines stand around changes. */
const CONTEXT = 2;

/** Beyond so many changed lines the texts are shown one after the other: the search is quadratic in them. */
const MAX_CHANGES = 2000;

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/**
 * The lines of a program that differ from those of another one, each with `-` or `+`, and lines around them
 * with a blank. Printed programs number values, and a pass that takes one away gives others new numbers: a
 * line whose operands are the same values under other numbers is no difference. Empty: there is none.
 */
export function differenceOfTexts(before: string, after: string): string {
  for (const text of [before, after]) requireKind('differenceOfTexts', 'text', ['what is', text]);
  const lines = alignedLines(linesOf(before), linesOf(after));
  const near = new Set<number>();
  for (const [i, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    for (let at = i - CONTEXT; at <= i + CONTEXT; at++) near.add(at);
  }
  let text = '';
  let isCut = false;
  for (const [i, line] of lines.entries()) {
    if (near.has(i)) text += `${isCut ? '…\n' : ''}${line.sign} ${line.text}`.trimEnd() + '\n';
    isCut = !near.has(i) && text !== '';
  }
  return text;
}

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n');
}

const NUMBERED = /%(\d+)\b/g;

function alignedLines(before: readonly string[], after: readonly string[]): Line[] {
  const anonymous = (line: string): string => line.replaceAll(NUMBERED, '%');
  const pairs = commonPlaces(before.map(anonymous), after.map(anonymous));
  const numbers = new Map<string, string>();
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...pairs, [before.length, after.length] as const]) {
    const [taken, added] = [before.slice(i, x), after.slice(j, y)];
    // The last value of what was replaced is most likely what takes its place.
    for (const [k, line] of taken.toReversed().entries()) {
      renumber(numbers, line, added.at(-1 - k) ?? '');
    }
    lines.push(...taken.map((text): Line => ({ sign: '-', text })));
    lines.push(...added.map((text): Line => ({ sign: '+', text })));
    const [was, is] = [before[x], after[y]];
    if (was === undefined || is === undefined) break;
    renumber(numbers, was, is);
    const renamed = was.replaceAll(NUMBERED, (name, number: string) => numbers.get(number) ?? name);
    if (renamed === is) lines.push({ sign: ' ', text: is });
    else lines.push({ sign: '-', text: was }, { sign: '+', text: is });
    [i, j] = [x + 1, y + 1];
  }
  return lines;
}

/** Notes that the value that one line names is what the other line names. */
function renumber(numbers: Map<string, string>, was: string, is: string): void {
  const [from, to] = [was, is].map((line) => /^\s*%(\d+) = /.exec(line)?.[1]);
  if (from !== undefined && to !== undefined) numbers.set(from, `%${to}`);
}

/** Pairs of places of a longest common subsequence; none where there are too many changes. */
function commonPlaces(a: readonly string[], b: readonly string[]): [number, number][] {
  const parts = diffArrays([...a], [...b], { maxEditLength: MAX_CHANGES }) ?? [];
  const pairs: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const { added, removed, count } of parts) {
    if (!added && !removed) {
      for (let k = 0; k < count; k++) pairs.push([x + k, y + k]);
    }
    if (!added) x += count;
    if (!removed) y += count;
  }
  return pairs;
}

/**
 * An instrument that tells what each pass changed: the lines of the program as text that it took away
 * (`-`) and added (`+`), with lines around them. Passes that change nothing are not told of.
 */
export function passDifferences(
  onDifference: (pass: string, difference: string) => void,
): PassInstrument {
  return {
    afterPass({ pass, before, after }) {
      if (after === before) return;
      const difference = differenceOfTexts(printModule(before), printModule(after));
      if (difference !== '') onDifference(pass, difference);
    },
  };
}
