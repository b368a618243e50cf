import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'rolldown/utils';

type ParsedFile = ReturnType<typeof parseSync>;
type Statement = ParsedFile['program']['body'][number];
type Declared = NonNullable<Extract<Statement, { type: 'ExportNamedDeclaration' }>['declaration']>;

/** A node of the syntax tree. */
export interface Place {
  readonly start: number;
}

/** A declaration at the top of a module. */
export interface Declaration {
  readonly module: SourceModule;
  readonly name: string;
  readonly node: Declared;
  /** The statement, before which the docstring stands. */
  readonly statement: Place;
}

/** `export * as name from './module.ts'`. */
interface Namespace {
  readonly module: SourceModule;
  /** Who says so, and where. */
  readonly owner: SourceModule;
  readonly statement: Place;
}

/** A name of another module that has another name here; `*` is all of that module. */
interface Origin {
  readonly from: string;
  readonly name: string;
  readonly statement: Place;
}

/** Reads each source file once. */
export class Sources {
  readonly #modules = new Map<string, SourceModule>();

  module(path: string): SourceModule {
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const module = new SourceModule(path, this);
    this.#modules.set(path, module);
    return module;
  }
}

/** What a source file declares, imports and exports. */
export class SourceModule {
  readonly path: string;
  readonly #sources: Sources;
  readonly #text: string;
  readonly #comments: ParsedFile['comments'];
  readonly #declarations = new Map<string, Declaration[]>();
  readonly #imports = new Map<string, Origin>();
  /** By the names that others see. */
  readonly #exports = new Map<string, Origin | string>();
  /** Modules of which everything is exported. */
  readonly #wholes: string[] = [];

  constructor(path: string, sources: Sources) {
    this.path = path;
    this.#sources = sources;
    this.#text = readFileSync(path, 'utf8');
    const { program, comments, errors } = parseSync(path, this.#text);
    if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
    this.#comments = comments;
    for (const statement of program.body) this.#add(statement);
  }

  /** The names that others see. */
  exportedNames(): string[] {
    const others = this.#wholes.flatMap((from) => this.#module(from)?.exportedNames() ?? []);
    return [...new Set([...this.#exports.keys(), ...others.filter((name) => name !== 'default')])];
  }

  /** What others get by a name: declarations, or a module; nothing where it is of a package. */
  exported(name: string): readonly Declaration[] | Namespace {
    const own = this.#exports.get(name);
    if (typeof own === 'string') return this.named(own);
    if (own !== undefined) return this.#follow(own);
    const owner = this.#wholes
      .flatMap((from) => this.#module(from) ?? [])
      .find((module) => module.exportedNames().includes(name));
    return owner?.exported(name) ?? [];
  }

  /** What a name means in this module. */
  named(name: string): readonly Declaration[] | Namespace {
    const origin = this.#imports.get(name);
    return this.#declarations.get(name) ?? (origin === undefined ? [] : this.#follow(origin));
  }

  /** The text of the docstring before a node; undefined where there is none. */
  docstring({ start }: Place): string | undefined {
    let before = start;
    for (let i = this.#comments.findLastIndex(({ end }) => end <= start); i >= 0; i--) {
      const comment = this.#comments[i];
      if (comment === undefined) return undefined;
      const line = this.#text.lastIndexOf('\n', comment.start) + 1;
      // What stands behind code belongs to that.
      const isBeside = this.#text.slice(line, comment.start).trim() !== '';
      if (isBeside || this.#text.slice(comment.end, before).trim() !== '') return undefined;
      if (comment.type === 'Block' && comment.value.startsWith('*')) return comment.value;
      before = comment.start;
    }
    return undefined;
  }

  /** The line of a node, from 1. */
  lineOf({ start }: Place): number {
    return this.#text.slice(0, start).split('\n').length;
  }

  #module(from: string): SourceModule | undefined {
    if (!from.startsWith('.')) return undefined;
    return this.#sources.module(join(dirname(this.path), from));
  }

  #follow({ from, name, statement }: Origin): readonly Declaration[] | Namespace {
    const module = this.#module(from);
    if (module === undefined) return [];
    return name === '*' ? { module, owner: this, statement } : module.exported(name);
  }

  #add(statement: Statement): void {
    switch (statement.type) {
      case 'ImportDeclaration':
        for (const one of statement.specifiers) {
          const name =
            one.type === 'ImportSpecifier'
              ? nameOf(one.imported)
              : one.type === 'ImportDefaultSpecifier'
                ? 'default'
                : '*';
          this.#imports.set(one.local.name, { from: statement.source.value, name, statement });
        }
        return;
      case 'ExportAllDeclaration': {
        const from = statement.source.value;
        if (statement.exported === null) this.#wholes.push(from);
        else this.#exports.set(nameOf(statement.exported), { from, name: '*', statement });
        return;
      }
      case 'ExportNamedDeclaration':
        for (const { local, exported } of statement.specifiers) {
          const [name, from] = [nameOf(local), statement.source?.value];
          this.#exports.set(
            nameOf(exported),
            from === undefined ? name : { from, name, statement },
          );
        }
        if (statement.declaration === null) return;
        if (hasPattern(statement.declaration)) throw new Error(`${this.path} exports a pattern`);
        for (const name of this.#declare(statement.declaration, statement)) {
          this.#exports.set(name, name);
        }
        return;
      case 'ExportDefaultDeclaration':
        throw new Error(
          `${this.path}: the names of the package are followed by name; got \`export default\``,
        );
      default:
        if (isDeclared(statement)) this.#declare(statement, statement);
    }
  }

  /** Remembers a declaration; returns its names. */
  #declare(node: Declared, statement: Place): string[] {
    const names = declaredNames(node);
    for (const name of names) {
      const others = this.#declarations.get(name) ?? [];
      this.#declarations.set(name, [...others, { module: this, name, node, statement }]);
    }
    return names;
  }
}

const nameOf = (name: { readonly name: string } | { readonly value: string }): string =>
  'name' in name ? name.name : name.value;

const DECLARED: readonly string[] = [
  'ClassDeclaration',
  'FunctionDeclaration',
  'TSDeclareFunction',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'VariableDeclaration',
] satisfies readonly Declared['type'][];

const hasPattern = (node: Declared): boolean =>
  node.type === 'VariableDeclaration' &&
  node.declarations.some(({ id }) => id.type !== 'Identifier');

const isDeclared = (statement: Statement): statement is Declared =>
  DECLARED.includes(statement.type);

function declaredNames(node: Declared): string[] {
  switch (node.type) {
    case 'VariableDeclaration':
      // Patterns take values apart within a module; the package declares its names one by one.
      return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
    case 'ClassDeclaration':
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return node.id === null ? [] : [node.id.name];
    default:
      throw new Error(`the sources declare nothing by ${node.type}`);
  }
}
