import { type ESTree, parseSync } from 'rolldown/utils';

/** A piece of a source, and what a mutator puts in its place. */
interface Mutation {
  /** The name of the mutator. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Swaps = Readonly<Record<string, string | readonly string[]>>;

/** The mutators are StrykerJS's, with bitwise ones beside and without those of objects and regular expressions. */
const OPERATORS: Readonly<Record<string, Swaps>> = {
  'arithmetic operator': { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '**': '*' },
  'bitwise operator': { '<<': '>>', '>>': '<<', '>>>': '<<', '&': '|', '|': '&', '^': '&' },
  'logical operator': { '&&': '||', '||': '&&' },
  'equality operator': {
    '<': ['<=', '>='],
    '<=': ['<', '>'],
    '>': ['>=', '<='],
    '>=': ['>', '<'],
    '===': '!==',
    '!==': '===',
  },
};

/** Methods that are called instead of each other. */
const METHODS = new Map(
  'min max, some every, startsWith endsWith, toUpperCase toLowerCase, trimStart trimEnd, floor ceil, indexOf lastIndexOf, find findLast, push unshift'
    .split(', ')
    .flatMap((pair) => [pair.split(' '), pair.split(' ').toReversed()] as [string, string][]),
);

/** Methods of which only the object stays. */
const REMOVED = new Set(
  'sort toSorted reverse toReversed slice subarray substring filter trim'.split(' '),
);

/** Of the syntax of types, these alone hold expressions. */
const WRAPPERS = /^TS(As|Satisfies|NonNull|Instantiation)Expression$/;

/** All that the mutators would do to a source, in its order. Throws for one that does not parse. */
export function findMutations(file: string, source: string): Mutation[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const found: Mutation[] = [];
  const visit = (node: ESTree.Node): void => {
    if (isLeftOut(node)) return;
    found.push(...mutationsAt(node, source));
    for (const child of childrenOf(node)) visit(child);
  };
  visit(program);
  return found.filter(({ start, end, text }) => source.slice(start, end) !== text);
}

const isNode = (value: unknown): value is ESTree.Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** Types, what imports and exports name, and what no test can reach: the messages of bugs of our own. */
function isLeftOut(node: ESTree.Node): boolean {
  if (node.type.startsWith('TS')) return !WRAPPERS.test(node.type);
  if (/^Import|^ExportAll/.test(node.type)) return true;
  if ('declare' in node && node.declare) return true;
  if (node.type === 'ExpressionStatement') return typeof node.directive === 'string';
  return (
    node.type === 'CallExpression' &&
    node.callee.type === 'Identifier' &&
    node.callee.name === 'internalError'
  );
}

/** Without names: those of exports, of properties, and of elements that are named by a text. */
function childrenOf(node: ESTree.Node): ESTree.Node[] {
  const isComputed = 'computed' in node && node.computed;
  const children = Object.entries(node).filter(([key, child]) => {
    if (key === 'key') return isComputed;
    if (key === 'property') return isComputed && isNode(child) && child.type !== 'Literal';
    return node.type !== 'ExportNamedDeclaration' || key === 'declaration';
  });
  return children.flatMap(([, child]: [string, unknown]) =>
    (Array.isArray(child) ? child : [child]).filter(isNode),
  );
}

function mutationsAt(node: ESTree.Node, source: string): readonly Mutation[] {
  const replace = (kind: string, { start, end }: ESTree.Span, ...texts: readonly string[]) =>
    texts.map((text): Mutation => ({ kind, start, end, text }));
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return operatorMutations(node, source);
    case 'IfStatement':
    case 'ConditionalExpression':
      return replace('conditional expression', node.test, 'true', 'false');
    case 'WhileStatement':
    case 'DoWhileStatement':
      return replace('conditional expression', node.test, 'false');
    case 'ForStatement':
      return node.test === null ? [] : replace('conditional expression', node.test, 'false');
    case 'BlockStatement':
      return node.body.length === 0 ? [] : replace('block statement', node, '{}');
    case 'ArrowFunctionExpression':
      return node.body.type === 'BlockStatement'
        ? []
        : replace('arrow function', node.body, 'undefined');
    case 'Literal':
      if (typeof node.value === 'boolean')
        return replace('boolean literal', node, String(!node.value));
      return typeof node.value === 'string' ? replace('string literal', node, "''") : [];
    case 'TemplateLiteral':
      return replace('string literal', node, '``');
    case 'ArrayExpression':
      return replace('array declaration', node, '[]');
    case 'UnaryExpression':
      return /^[-+!~]$/.test(node.operator)
        ? replace('unary operator', { start: node.start, end: node.argument.start }, '')
        : [];
    case 'UpdateExpression': {
      const at = node.prefix ? node.start : node.end - 2;
      const other = node.operator === '++' ? '--' : '++';
      return replace('update operator', { start: at, end: at + 2 }, other);
    }
    case 'MemberExpression':
      return node.optional ? withoutCheck(node.object, node.computed ? '' : '.', source) : [];
    case 'CallExpression':
      return node.optional ? withoutCheck(node.callee, '', source) : methodMutations(node);
    default:
      return [];
  }
}

type Operation = Extract<
  ESTree.Node,
  { type: 'BinaryExpression' | 'LogicalExpression' | 'AssignmentExpression' }
>;

function operatorMutations(node: Operation, source: string): Mutation[] {
  const { type, left, right, operator } = node;
  if (operator === '??') {
    const sides = [left, right].map((side) => source.slice(side.start, side.end));
    return sides.map((text) => ({
      kind: 'logical operator',
      start: node.start,
      end: node.end,
      text,
    }));
  }
  const isText = [left, right].some(({ start }) => /['"`]/.test(source.charAt(start)));
  // A text has no other operator.
  if (operator === '+' && isText) return [];
  const start = source.indexOf(operator, left.end);
  const isAssigned = type === 'AssignmentExpression';
  const base = isAssigned ? operator.slice(0, -1) : operator;
  return Object.entries(OPERATORS).flatMap(([kind, swaps]) =>
    [swaps[base] ?? []].flat().map((other) => ({
      kind: isAssigned ? 'assignment operator' : kind,
      start,
      end: start + operator.length,
      text: isAssigned ? `${other}=` : other,
    })),
  );
}

/** `a?.b` without the question mark. */
function withoutCheck({ end: from }: ESTree.Span, text: string, source: string): Mutation[] {
  const start = source.indexOf('?.', from);
  return [{ kind: 'optional chaining', start, end: start + 2, text }];
}

function methodMutations({ callee, end }: ESTree.CallExpression): Mutation[] {
  if (callee.type !== 'MemberExpression' || callee.computed || callee.optional) return [];
  const { object, property } = callee;
  const kind = 'method expression';
  if (REMOVED.has(property.name)) return [{ kind, start: object.end, end, text: '' }];
  const text = METHODS.get(property.name);
  return text === undefined ? [] : [{ kind, start: property.start, end: property.end, text }];
}
