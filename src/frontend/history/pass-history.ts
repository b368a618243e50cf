import { differenceOfTexts } from '../../compiler/instruments/difference-of-texts.ts';
import type { PassInstrument, PassRun } from '../../compiler/instruments/pass-instrument.ts';
import { type Module, spanOf } from '../../compiler/ir/expr.ts';
import { printModule } from '../../compiler/ir/text/print.ts';
import type { PassLine, PassStep } from '../../core/contracts/pass-step.ts';
import { formatPlace } from '../../core/contracts/source-place.ts';

/** The line that stands for equal ones in a difference. */
const CUT = '…';

/** An instrument that keeps the program as text behind each pass. */
export class PassHistory implements PassInstrument {
  readonly #steps: PassStep[] = [];
  /** Behind each step; the same object where a pass changed nothing. */
  readonly #texts: (readonly PassLine[])[] = [];
  #begin = 0;

  /** The passes so far, in their order, behind the program as it came. A pass that runs twice is there twice. */
  get steps(): readonly PassStep[] {
    return this.#steps;
  }

  /** Notes the program as it came. */
  beforePass({ before }: Omit<PassRun, 'after'>): void {
    if (this.#texts.length === 0) {
      this.#steps.push({ pass: 'source', milliseconds: 0, isChanged: true });
      this.#texts.push(linesOf(before));
    }
    this.#begin = performance.now();
  }

  /** Notes the program that the pass made. */
  afterPass({ pass, before, after }: PassRun): void {
    const milliseconds = performance.now() - this.#begin;
    const known = this.#texts.at(-1) ?? [];
    const lines = before === after ? known : linesOf(after);
    const isChanged = lines !== known && textOf(lines) !== textOf(known);
    this.#steps.push({ pass, milliseconds, isChanged });
    this.#texts.push(isChanged ? lines : known);
  }

  /** The program behind a step. */
  linesAfter(step: number): readonly PassLine[] {
    return this.#texts[step] ?? [];
  }

  /** The lines that a step took away and added, with lines around them; empty where it changed nothing. */
  differenceOf(step: number): readonly PassLine[] {
    const [before, after] = [this.#texts[step - 1], this.#texts[step]];
    if (before === undefined || after === undefined || before === after) return [];
    const difference = differenceOfTexts(textOf(before), textOf(after)).trimEnd();
    return difference === '' ? [] : withPlaces(difference.split('\n'), before, after);
  }
}

/** Lines of a difference are lines of one text or the other, in their order. */
function withPlaces(
  lines: readonly string[],
  before: readonly PassLine[],
  after: readonly PassLine[],
): readonly PassLine[] {
  let [i, j] = [0, 0];
  return lines.map((line): PassLine => {
    if (line === CUT) return { text: line };
    const text = line.slice(2);
    if (line.startsWith('-')) {
      i = placeOf(before, text, i) + 1;
      return { sign: '-', text, place: before[i - 1]?.place };
    }
    j = placeOf(after, text, j) + 1;
    const place = after[j - 1]?.place;
    return line.startsWith('+') ? { sign: '+', text, place } : { text, place };
  });
}

function placeOf(lines: readonly PassLine[], wanted: string, from: number): number {
  const found = lines.findIndex(({ text }, line) => line >= from && text === wanted);
  return found < 0 ? from - 1 : found;
}

const textOf = (lines: readonly PassLine[]): string => lines.map(({ text }) => text).join('\n');

function linesOf(module: Module): readonly PassLine[] {
  const places = new Map<number, string>();
  const text = printModule(module, {
    onLine: (line, expr) => {
      const span = spanOf(expr);
      if (span !== undefined) places.set(line, formatPlace(span));
    },
  });
  return text
    .trimEnd()
    .split('\n')
    .map((line, number) => ({ text: line.trimEnd(), place: places.get(number) }));
}
