/** A node of @huggingface/jinja's syntax tree; only what is read here. */
interface JinjaNode {
  type?: string;
  value?: unknown;
  iterable?: JinjaNode;
  lhs?: JinjaNode;
  left?: JinjaNode;
  right?: JinjaNode;
  operator?: { readonly value: string };
  operand?: JinjaNode;
  filter?: JinjaNode;
  callee?: JinjaNode;
  body?: JinjaNode[];
}

/** Names under which templates call what refuses messages, what lists numbers, and what counts their steps. */
export const [REFUSE, RANGE, STEP] = ['__refuse', '__range', '__step'] as const;

/** Filters that take an undefined value as no text, and as no items. */
const TEXT_FILTERS = /^(length|trim|upper|lower|title|capitalize|string|replace|indent|safe)$/;
const LIST_FILTERS =
  /^(join|list|items|first|last|map|select|reject|selectattr|rejectattr|sort|unique|reverse|dictsort)$/;

/**
 * Changes the tree of a template so that undefined variables are what they are in Jinja2, where @huggingface/jinja throws: they
 * print nothing, are looped over zero times, and are no part of anything. Each turn of a loop and each call of a macro is counted.
 */
export function makeLenient(tree: unknown): void {
  if (typeof tree !== 'object' || tree === null) return;
  for (const part of Object.values(tree)) makeLenient(part);
  const node = tree as JinjaNode;
  if (node.type === 'For' && node.iterable) {
    const { iterable } = node;
    if (iterable.type === 'SelectExpression' && iterable.lhs)
      iterable.lhs = orElse(iterable.lhs, []);
    else node.iterable = orElse(iterable, []);
  }
  if (node.type === 'BinaryExpression' && node.left && node.right) {
    const operator = node.operator?.value ?? '';
    if (/^(~|in|not in)$/.test(operator)) node.left = orElse(node.left, '');
    if (operator === '~') node.right = orElse(node.right, '');
  }
  if (node.type === 'FilterExpression' && node.operand) {
    const name = String((node.filter?.callee ?? node.filter)?.value);
    if (TEXT_FILTERS.test(name)) node.operand = orElse(node.operand, '');
    if (LIST_FILTERS.test(name)) node.operand = orElse(node.operand, []);
  }
  if (node.type === 'CallExpression' && node.callee) {
    if (node.callee.value === 'raise_exception') node.callee.value = REFUSE;
    if (node.callee.value === 'range') node.callee.value = RANGE;
  }
  if (node.type === 'For' || node.type === 'Macro') node.body?.unshift(callOf(STEP));
}

/** A call of a function: `f(...args)`. */
function callOf(name: string, ...args: readonly object[]): JinjaNode {
  const call = { type: 'CallExpression', callee: { type: 'Identifier', value: name }, args };
  return call;
}

/** `x | default(value)`. */
function orElse(operand: JinjaNode, value: '' | readonly []): JinjaNode {
  const literal = { type: value === '' ? 'StringLiteral' : 'ArrayLiteral', value };
  return { type: 'FilterExpression', operand, filter: callOf('default', literal) };
}
