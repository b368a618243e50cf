import { MagicString } from 'magic-string';
import { parseSync } from 'vite';

export interface ChunkFactory {
  /** An expression: the function that makes the chunk's exports. */
  readonly code: MagicString;
  /** What it imports of each chunk that it needs at once, by file name. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** File names of the chunks that it loads on demand. */
  readonly loads: readonly string[];
  /** Each of its exports as a property, which is a getter where its value may change. */
  readonly exported: ReadonlyMap<string, string>;
}

/** Names that no chunk has for anything of its own. */
const NEED = '__weftNeed';
const LOAD = '__weftLoad';

interface Names {
  /** The file name that a relative specifier means. */
  readonly resolve: (specifier: string) => string;
  /** A number of each chunk. */
  readonly idOf: (fileName: string) => number;
}

/**
 * An ES chunk as a function that needs no module system: imports become calls of a first parameter,
 * `import()` those of a second one, `import.meta.url` the worker's address. {@link addExports} has it return an object of
 * its exports. Throws at what no chunk of ours holds.
 */
export function chunkFactory(code: string, fileName: string, names: Names): ChunkFactory {
  const text = new MagicString(code);
  const exported = new Map<string, string>();
  const needs = new Map<string, string[]>();
  const loads: string[] = [];
  const need = (specifier: string, imported: readonly string[]): string => {
    const target = names.resolve(specifier);
    needs.set(target, [...(needs.get(target) ?? []), ...imported]);
    return `${NEED}(${names.idOf(target)})`;
  };
  const { program } = parseSync(fileName, code);
  const called = new Map(program.body.map((node) => [calledName(node), node.end]));
  const assigned = assignedNames(program);
  for (const node of program.body) {
    const { start, end } = node;
    if (node.type === 'ImportDeclaration') {
      const bindings = node.specifiers.map((specifier) => {
        if (specifier.type !== 'ImportSpecifier') throw unexpected(specifier.type, fileName);
        return [nameOf(specifier.imported), specifier.local.name] as const;
      });
      const from = need(
        node.source.value,
        bindings.map(([name]) => name),
      );
      const pattern = `{ ${bindings.map((pair) => pair.join(': ')).join(', ')} }`;
      // The bundler puts modules that CommonJS requires into functions: what they export is there once one was called.
      const calls = node.specifiers.map(({ local }) => called.get(local.name) ?? 0);
      const readAgain = Math.max(0, ...calls);
      if (readAgain > 0) {
        text.appendRight(readAgain, ` (${pattern} = ${from});`);
        for (const { local } of node.specifiers) assigned.add(local.name);
      }
      const keyword = readAgain > 0 ? 'let' : 'const';
      text.update(
        start,
        end,
        bindings.length === 0 ? `${from};` : `${keyword} ${pattern} = ${from};`,
      );
    } else if (node.type === 'ExportNamedDeclaration') {
      if (node.declaration) throw unexpected('export with a declaration', fileName);
      const names = node.specifiers.map(({ local }) => nameOf(local));
      const from = node.source ? `${need(node.source.value, names)}.` : '';
      for (const { exported: outside, local } of node.specifiers) {
        const name = nameOf(outside);
        const value = `${from}${nameOf(local)}`;
        const mayChange = from !== '' || assigned.has(value);
        exported.set(name, mayChange ? `get ${name}() { return ${value}; }` : `${name}: ${value}`);
      }
      text.remove(start, end);
    } else if (node.type.startsWith('Export')) {
      throw unexpected(node.type, fileName);
    }
  }
  for (const { start, end, specifier } of placesIn(program, fileName)) {
    if (specifier === undefined) text.update(start, end, 'self.location.href');
    else {
      const target = names.resolve(specifier);
      loads.push(target);
      text.update(start, end, `${LOAD}(${names.idOf(target)})`);
    }
  }
  text.prepend(`(${NEED}, ${LOAD}) => {\n`);
  return { code: text, needs, loads, exported };
}

/** Ends a factory: it returns those of its exports that are needed. */
export function addExports(
  { code, exported }: ChunkFactory,
  isNeeded: (name: string) => boolean = () => true,
): void {
  const properties = [...exported].flatMap(([name, text]) => (isNeeded(name) ? [text] : []));
  code.append(`\nreturn { ${properties.join(', ')} };\n}`);
}

/** All names that something is assigned to after its declaration, wherever they mean it. */
function assignedNames(program: unknown): Set<string> {
  const names = new Set<string>();
  const addAll = (target: unknown): void => {
    if (fieldOf(target, 'type') === 'Identifier') names.add(String(fieldOf(target, 'name')));
    else if (typeof target === 'object')
      for (const part of Object.values(target ?? {})) addAll(part);
  };
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const type = fieldOf(node, 'type');
    if (type === 'UpdateExpression') addAll(fieldOf(node, 'argument'));
    if (['AssignmentExpression', 'ForInStatement', 'ForOfStatement'].includes(String(type))) {
      addAll(fieldOf(node, 'left'));
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(program);
  return names;
}

/** Of a statement `name();`. */
function calledName(statement: unknown): unknown {
  const call = fieldOf(statement, 'expression');
  if (fieldOf(statement, 'type') !== 'ExpressionStatement') return undefined;
  if (fieldOf(call, 'type') !== 'CallExpression') return undefined;
  return fieldOf(fieldOf(call, 'callee'), 'name');
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: unknown }) {
  if (node.type !== 'Identifier' || node.name === undefined) {
    throw new Error(`internal: ${node.type} as the name of an import or export`);
  }
  return node.name;
}

/** An `import()` of a chunk, or an `import.meta.url`, which has no specifier. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly specifier?: string;
}

function placesIn(root: unknown, fileName: string): Place[] {
  const found: Place[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const child of node) visit(child);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, start, end, source, object } = node as Record<string, unknown>;
    const place = { start: Number(start), end: Number(end) };
    if (type === 'MemberExpression' && fieldOf(fieldOf(object, 'meta'), 'name') === 'import') {
      if (fieldOf(fieldOf(node, 'property'), 'name') !== 'url')
        throw unexpected('import.meta', fileName);
      found.push(place);
      return;
    }
    if (type === 'ImportExpression') {
      const specifier = fieldOf(source, 'value');
      if (typeof specifier !== 'string') throw unexpected('import() of a value', fileName);
      found.push({ ...place, specifier });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(root);
  return found;
}

function fieldOf(node: unknown, name: string): unknown {
  return typeof node === 'object' && node !== null ? Reflect.get(node, name) : undefined;
}

function unexpected(found: string, fileName: string): Error {
  return new Error(`internal: ${fileName} holds ${found}, which no worker file can`);
}
