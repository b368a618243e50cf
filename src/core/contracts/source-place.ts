/** A place in the source of a program, for messages: a node of a model, or a line of a text. */
export interface SourcePlace {
  /** The name of a node in the source model; the name of the file where there is a line. */
  readonly source: string;
  /** Line and column in a text, from 1. */
  readonly line?: number;
  /** The column in that line, from 1. */
  readonly column?: number;
}

/** `node "Conv_0"`, or `file.ir:3:14`. */
export function formatPlace({ source, line, column = 1 }: SourcePlace): string {
  return line === undefined ? `node "${source}"` : `${source}:${line}:${column}`;
}

/** Returns true if two places are the same. */
export function isSamePlace(a: SourcePlace, b: SourcePlace): boolean {
  return a.source === b.source && a.line === b.line && (a.column ?? 1) === (b.column ?? 1);
}
