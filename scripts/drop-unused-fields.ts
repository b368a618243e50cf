import { readFile } from 'node:fs/promises';
import { type ESTree, parseSync, type Plugin } from 'vite';

/** What tests and documentation read. */
const TESTED = new Set(['cases', 'badCases', 'summary', 'caseValues']);
/** Ranges of random numbers for cases, where they are written out. */
const RANGES = new Set(['range', 'ranges']);
/** What computes on the host: only the host device's kernels and the compiler read it. */
const REFERENCES = /^(?:reference|compute|host|host[A-Z]\w*|wideHost)$/;
/** The operators whose formulas, cases and kernels still stand in one literal. */
const TABLES = /\/src\/ops\/(?:elementwise\/[^/]+|quantization\/(?:de)?quantize)\.ts$/;

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Elementwise operators hold their test cases and their lines in the documentation, which nobody reads
 * in production. Takes `cases`, `badCases` and `summary` out of object literals, and without
 * `keepsReferences` what computes on the host; what only they use is then dropped as unused.
 */
export function withoutUnusedFields(
  code: string,
  file: string,
  { keepsReferences = true } = {},
): string {
  const spans: Span[] = [];
  collect(parseSync(file, code).program, { spans, keepsReferences });
  let result = code;
  for (const { start, end } of spans.sort((a, b) => b.start - a.start)) {
    const comma = /^\s*,?/.exec(result.slice(end))?.[0] ?? '';
    result = result.slice(0, start).trimEnd() + result.slice(end + comma.length);
  }
  return result;
}

interface Search {
  readonly spans: Span[];
  readonly keepsReferences: boolean;
}

function collect(node: unknown, search: Search): void {
  if (Array.isArray(node)) {
    for (const child of node) collect(child, search);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  // Names that a pattern takes out of an object are no fields of one.
  const isPattern = 'type' in node && node.type === 'ObjectPattern';
  if (isProperty(node) && isUnused(node, search)) {
    search.spans.push(node);
    return;
  }
  const children = isPattern && 'properties' in node ? patternDefaults(node.properties) : node;
  for (const child of Object.values(children)) collect(child, search);
}

/** The values in a destructuring pattern, under which literals may stand as defaults. */
function patternDefaults(properties: unknown): object {
  if (!Array.isArray(properties)) return [];
  return properties.map((property: { value?: unknown }) => property.value);
}

function isProperty(node: object): node is ESTree.ObjectProperty {
  return 'type' in node && node.type === 'Property';
}

function isUnused({ key, value }: ESTree.ObjectProperty, { keepsReferences }: Search): boolean {
  if (key.type !== 'Identifier') return false;
  if (TESTED.has(key.name)) return true;
  if (RANGES.has(key.name) && value.type === 'ArrayExpression') return true;
  if (keepsReferences) return false;
  // A literal is the reason why an operator runs on the host.
  return REFERENCES.test(key.name) && value.type !== 'Literal';
}

/** Marks the second copy of a module of `src/ops`, the one with references. */
const WITH_REFERENCES = '?with-references';
const OPERATORS = /\/src\/ops\/[^?]+\.ts$/;
/** Who computes with references: the kernels of the host device, and the compiler for folding. */
const READS_REFERENCES =
  /\/src\/(compiler|frontend|cli|device\/host)\/|\/src\/ops\/.*\?with-references$/;

/**
 * Drops what production does not read. Whoever computes with references gets modules of `src/ops`
 * of its own that have them: the code that runs a program on WebGPU is then free of them, and they
 * load with the host device's kernels or the compiler.
 */
export function dropUnusedFields(): Plugin {
  return {
    name: 'weft:drop-unused-fields',
    apply: 'build',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (importer === undefined || !READS_REFERENCES.test(importer)) return null;
      const from = importer.replace(WITH_REFERENCES, '');
      const resolved = await this.resolve(source, from, { skipSelf: true });
      if (resolved === null || !OPERATORS.test(resolved.id)) return resolved;
      return { ...resolved, id: resolved.id + WITH_REFERENCES };
    },
    async load(id) {
      if (!id.endsWith(WITH_REFERENCES)) return null;
      const file = id.slice(0, -WITH_REFERENCES.length);
      return { code: await readFile(file, 'utf8'), moduleType: 'ts' };
    },
    transform(code, id) {
      const file = id.replace(WITH_REFERENCES, '');
      if (!TABLES.test(file)) return null;
      const keepsReferences = id !== file || !OPERATORS.test(file);
      return { code: withoutUnusedFields(code, file, { keepsReferences }), map: null };
    },
  };
}
