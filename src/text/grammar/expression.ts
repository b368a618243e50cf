import type { CodePointSet } from './languages/code-points.ts';

/** A part of a grammar. It describes a set of texts, which are matched as UTF-8. */
export type Expression =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'character'; readonly set: CodePointSet }
  | { readonly kind: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly kind: 'choice'; readonly options: readonly Expression[] }
  /** From `min` to `max` times, where `max` may be Infinity. */
  | {
      readonly kind: 'repeat';
      readonly body: Expression;
      readonly min: number;
      readonly max: number;
    }
  | Counted
  | Graph
  | { readonly kind: 'rule'; readonly name: string };

/**
 * From `min` to `max` units, then the text `end`, as in the characters of a JSON string and the quote
 * behind them. The number of units is counted while they are read, instead of written out, so large
 * numbers cost nothing. No unit may begin with the first byte of `end`, or be the start of another one.
 */
export interface Counted {
  readonly kind: 'counted';
  /** Names the pair of unit and end, which share an automaton whatever their numbers are. */
  readonly name: string;
  /** An expression without rules. */
  readonly unit: Expression;
  /** One ASCII character. */
  readonly end: string;
  readonly min: number;
  readonly max: number;
}

/**
 * Parts that lead from one place to another, for what would be too deep or too long as parts inside each
 * other. It begins at place 0, to which no part leads, and ends at the place `end`.
 */
export interface Graph {
  readonly kind: 'graph';
  readonly edges: readonly GraphEdge[];
  readonly end: number;
}

/** A part of a graph and its two places. */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  readonly body: Expression;
}

/** An item of a list, never empty. */
export interface ListItem {
  readonly body: Expression;
  readonly isRequired: boolean;
}

/** Rules by name. The text that a grammar describes is one of its rule `root`. */
export interface Rules {
  readonly root: string;
  readonly rules: ReadonlyMap<string, Expression>;
}

/** The empty text. */
export const EMPTY: Expression = { kind: 'sequence', parts: [] };

export const text = (value: string): Expression => ({ kind: 'text', text: value });

export const character = (set: CodePointSet): Expression => ({ kind: 'character', set });

export const rule = (name: string): Expression => ({ kind: 'rule', name });

export const optional = (body: Expression): Expression => repeat(body, 0, 1);

export const sequence = (...parts: readonly Expression[]): Expression => sequenceOf(parts);

export const choice = (...options: readonly Expression[]): Expression => choiceOf(options);

/** Of any number: a call has no room for more than some ten thousand arguments. */
export function sequenceOf(parts: readonly Expression[]): Expression {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : { kind: 'sequence', parts };
}

export function choiceOf(options: readonly Expression[]): Expression {
  const [only] = options;
  return only !== undefined && options.length === 1 ? only : { kind: 'choice', options };
}

/**
 * Items in order, with the separator between those that are there. A list of n optional items has 2^n
 * forms, and three places for each item.
 */
export function listOf(items: readonly ListItem[], separator: Expression): Graph {
  const edges: GraphEdge[] = [];
  /** Where nothing was read yet, if that is possible, and where an item was. */
  let first: number | undefined = 0;
  let later = 1;
  for (const { body, isRequired } of items) {
    const [start, end] = [later + 1, later + 2];
    if (first !== undefined) edges.push({ from: first, to: start, body: EMPTY });
    edges.push({ from: later, to: start, body: separator }, { from: start, to: end, body });
    if (isRequired) first = undefined;
    else edges.push({ from: later, to: end, body: EMPTY });
    later = end;
  }
  if (first !== undefined) edges.push({ from: first, to: later, body: EMPTY });
  return { kind: 'graph', edges, end: later };
}

export function repeat(body: Expression, min: number, max = Number.POSITIVE_INFINITY): Expression {
  return { kind: 'repeat', body, min, max };
}

/** The expressions directly inside another one. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'text':
    case 'character':
    case 'counted':
    case 'rule':
      return [];
    case 'sequence':
      return expression.parts;
    case 'choice':
      return expression.options;
    case 'repeat':
      return [expression.body];
    case 'graph':
      return expression.edges.map(({ body }) => body);
    default:
      return expression satisfies never;
  }
}
