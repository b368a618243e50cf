import { type ESTree, parseSync, type Plugin } from 'vite';

const DROPPED = new Set(['cases', 'badCases']);

interface Span {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * An operator's entry holds its test cases, which nobody runs in production. Leaves `cases` and
 * `badCases` of object literals empty; what only they use is then dropped as unused.
 */
export function withoutCases(code: string, file: string): string {
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
  if (shorthand || key.type !== 'Identifier' || !DROPPED.has(key.name)) return undefined;
  if (value.type === 'ArrayExpression') return { start, end, text: `${key.name}: []` };
  const isFunction = ['ArrowFunctionExpression', 'FunctionExpression'].includes(value.type);
  return isFunction ? { start, end, text: `${key.name}: () => []` } : undefined;
}

export function dropOpCases(): Plugin {
  return {
    name: 'weft:drop-op-cases',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src\/ops\/[^/]+\.ts$/.test(id)) return null;
      return { code: withoutCases(code, id), map: null };
    },
  };
}
