import { type ESTree, parseSync, type Plugin } from 'vite';

const CASES = new Set(['cases', 'badCases']);
const TEXT = 'summary';
/** The tables whose entries are also tested and documented. */
const TABLES = /\/src\/(ops\/(?:[a-z]+\/)?[^/]+|bytecode\/builtins)\.ts$/;

interface Span {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The entry of an operator or a builtin holds its test cases and its line in the documentation,
 * which nobody reads in production. Leaves `cases`, `badCases` and `summary` of object literals
 * empty; what only they use is then dropped as unused.
 */
export function withoutUnusedFields(code: string, file: string): string {
  const spans: Span[] = [];
  collect(parseSync(file, code).program, spans);
  let result = code;
  for (const { start, end, text } of spans.sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + text + result.slice(end);
  }
  return result;
}

function collect(node: unknown, spans: Span[]): void {
  if (Array.isArray(node)) {
    for (const child of node) collect(child, spans);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const span = isProperty(node) ? emptied(node) : undefined;
  if (span === undefined) {
    for (const child of Object.values(node)) collect(child, spans);
  } else {
    spans.push(span);
  }
}

function isProperty(node: object): node is ESTree.ObjectProperty {
  return 'type' in node && node.type === 'Property';
}

function emptied({ key, value, shorthand, start, end }: ESTree.ObjectProperty): Span | undefined {
  if (shorthand || key.type !== 'Identifier') return undefined;
  const isText = value.type === 'Literal' || value.type === 'BinaryExpression';
  if (key.name === TEXT && isText) return { start, end, text: `${TEXT}: ''` };
  if (!CASES.has(key.name)) return undefined;
  if (value.type === 'ArrayExpression') return { start, end, text: `${key.name}: []` };
  const isFunction = ['ArrowFunctionExpression', 'FunctionExpression'].includes(value.type);
  return isFunction ? { start, end, text: `${key.name}: () => []` } : undefined;
}

export function dropUnusedFields(): Plugin {
  return {
    name: 'weft:drop-unused-fields',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!TABLES.test(id)) return null;
      return { code: withoutUnusedFields(code, id), map: null };
    },
  };
}
