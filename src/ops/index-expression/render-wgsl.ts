import type { IndexNode } from './expression.ts';

/** Nodes whose text depends on where the code is written. */
export type LeafNode = Exclude<IndexNode, { kind: 'constant' | 'operation' }>;

/** The precedence that an operand of any operator has at least. */
export const OPERAND = 3;

/** A WGSL expression; one of operators that bind less than `least` is in parentheses. */
export function renderIndex(node: IndexNode, leaf: (node: LeafNode) => string, least = 0): string {
  // Beside another operand a number without suffix takes the type of that.
  if (node.kind === 'constant') {
    return node.value + (node.type === 'u32' ? 'u' : least > 0 ? '' : 'i');
  }
  if (node.kind !== 'operation') return leaf(node);
  const { operator, operands } = node;
  const isFunction = /\w/.test(operator);
  const precedence = '+-'.includes(operator) ? 1 : '*/%'.includes(operator) ? 2 : 0;
  const text = operands
    .map((operand, i) =>
      renderIndex(operand, leaf, isFunction ? 0 : precedence === 1 ? 1 + i : OPERAND),
    )
    .join(isFunction ? ', ' : ` ${operator} `);
  if (isFunction) return `${operator}(${text})`;
  return precedence < least ? `(${text})` : text;
}
