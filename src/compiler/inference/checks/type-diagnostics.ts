import { having } from '../../../core/check-options.ts';
import { type Complaint, MAX_MESSAGE, TypeCheckError } from '../../../core/errors.ts';
import type { Span } from '../../ir/expr.ts';
import { excerptAt } from '../../ir/diagnostics.ts';

const MAX_REPORTED = 20;

const SEPARATOR = '\n\n';
/** Room for the line that says how many are left. */
const LEFT_LENGTH = 24;

interface Diagnostic {
  readonly error: Error;
  readonly span: Span | undefined;
}

/** Texts of programs by the name that spans give them. */
export type SourceTexts = ReadonlyMap<string, string>;

export const TEXTS = having('a Map of texts by their names', 'get');

/** Collects what is wrong with a module, so that all of it is told at once. */
export class TypeDiagnostics {
  readonly #texts: SourceTexts;
  readonly #diagnostics: Diagnostic[] = [];

  constructor(texts: SourceTexts = new Map()) {
    this.#texts = texts;
  }

  get isEmpty(): boolean {
    return this.#diagnostics.length === 0;
  }

  get count(): number {
    return this.#diagnostics.length;
  }

  /** Drops what came after so many. */
  forget(count: number): void {
    this.#diagnostics.length = count;
  }

  complain(span: Span | undefined, complaint: Complaint): void {
    this.add(span, new TypeCheckError(complaint));
  }

  add(span: Span | undefined, error: Error): void {
    this.#diagnostics.push({ error, span });
  }

  /** Throws a single error of a module without text as it is, else all in the order of the text. */
  throwIfAny(): void {
    const all = this.#diagnostics.toSorted(inTextOrder);
    const [first] = all;
    if (first === undefined) return;
    if (all.length === 1 && this.#excerpt(first) === '') throw first.error;
    const texts = all
      .slice(0, MAX_REPORTED)
      .map((diagnostic) => `${diagnostic.error.message}${this.#excerpt(diagnostic)}`);
    let length = 0;
    const messages = texts.filter((text, i) => {
      length += text.length + SEPARATOR.length;
      return i === 0 || length + LEFT_LENGTH <= MAX_MESSAGE;
    });
    const left = all.length - messages.length;
    if (left > 0) messages.push(`and ${left} more errors`);
    throw new TypeCheckError(messages.join(SEPARATOR), {
      cause: first.error,
      details: { errors: all.length, ...placesOf(all) },
    });
  }

  #excerpt({ span }: Diagnostic): string {
    const text = span === undefined ? undefined : this.#texts.get(span.source);
    if (text === undefined || span?.line === undefined) return '';
    return `\n${excerptAt(text, { line: span.line, column: span.column ?? 1 })}`;
  }
}

function placesOf(all: readonly Diagnostic[]): { lines?: number[]; columns?: number[] } {
  const spans = all.flatMap(({ span }) => (span?.line === undefined ? [] : [span]));
  if (spans.length !== all.length) return {};
  return {
    lines: spans.map(({ line = 1 }) => line),
    columns: spans.map(({ column = 1 }) => column),
  };
}

/** Diagnostics without a line keep their place. */
function inTextOrder({ span: a }: Diagnostic, { span: b }: Diagnostic): number {
  if (a?.line === undefined || b?.line === undefined || a.source !== b.source) return 0;
  return a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}
