import { relative } from 'node:path';
import {
  type Documentable,
  hasDocstring,
  inheritedMembers,
  isDescribedByParent,
  ownMembers,
} from './class-members.ts';
import { type Declaration, type SourceModule, Sources } from './source-module.ts';

/** What modules export. */
interface DocstringReport {
  /** Names such as `random.normal` and `Session.run`. */
  readonly symbols: readonly string[];
  /** Those without a docstring: `src/client/session.ts:12 Session.run`. */
  readonly undocumented: readonly string[];
}

/**
 * Looks for docstrings of all that modules export, and of all members of exported classes and interfaces.
 * Members of an object type that is spelled within another type are described by the docstring of that
 * one. What is `@internal`, private or protected needs none, nor does what a package declares. A member
 * may leave its docstring to a class or an interface that its own one extends or implements.
 */
export function findUndocumented(
  entries: readonly string[],
  { root }: { readonly root: string },
): DocstringReport {
  const sources = new Sources();
  const search = new DocstringSearch(root);
  for (const entry of entries) search.collect(sources.module(entry));
  return search.report();
}

class DocstringSearch {
  readonly #root: string;
  readonly #symbols: string[] = [];
  readonly #undocumented: string[] = [];
  /** What is exported, by the name of the first entry that does. */
  readonly #exported = new Map<readonly Declaration[], string>();
  readonly #public = new Set<Declaration['node']>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Remembers what a module exports. */
  collect(module: SourceModule, prefix = ''): void {
    for (const exported of module.exportedNames()) {
      const name = `${prefix}${exported}`;
      const found = module.exported(exported);
      if ('statement' in found) {
        this.#look(name, [{ module: found.owner, node: found.statement }]);
        this.collect(found.module, `${name}.`);
      } else if (found.length > 0 && !this.#exported.has(found)) {
        this.#exported.set(found, name);
        for (const { module: owner, node, statement } of found) {
          if (!isInternal(owner.docstring(statement))) this.#public.add(node);
        }
      }
    }
  }

  report(): DocstringReport {
    for (const [declarations, name] of this.#exported) {
      // A value and a type of one name are two symbols; the signatures of a function are one.
      const kinds = groupBy(declarations, ({ node }) =>
        node.type.replace(/^TSDeclareFunction$/, 'FunctionDeclaration'),
      );
      for (const group of kinds) this.#check(name, group);
    }
    return { symbols: this.#symbols, undocumented: this.#undocumented };
  }

  #check(name: string, declarations: readonly Declaration[]): void {
    const signatures = declarations.filter(({ node }) => node.type === 'TSDeclareFunction');
    const described = signatures.length > 0 ? signatures : declarations;
    const statements = described.map(({ module, statement }) => ({ module, node: statement }));
    if (!this.#look(name, statements)) return;
    const members = declarations.flatMap((declaration) => [
      ...ownMembers(declaration),
      ...inheritedMembers(declaration, this.#public),
    ]);
    for (const group of groupBy(members, ({ key }) => key)) {
      const [member] = group;
      if (member === undefined) continue;
      const isDescribed = declarations.some((one) => isDescribedByParent(one, member.key));
      this.#look(`${name}.${member.name}`, group, isDescribed);
    }
  }

  /** Notes a symbol, and whether one of its nodes has a docstring. Returns false if it is internal. */
  #look(name: string, nodes: readonly Documentable[], isDescribed = false): boolean {
    if (nodes.some(({ module, node }) => isInternal(module.docstring(node)))) return false;
    this.#symbols.push(name);
    const [first] = nodes;
    if (first !== undefined && !isDescribed && !nodes.some(hasDocstring)) {
      const file = relative(this.#root, first.module.path);
      this.#undocumented.push(`${file}:${first.module.lineOf(first.node)} ${name}`);
    }
    return true;
  }
}

const isInternal = (docstring: string | undefined): boolean =>
  docstring?.includes('@internal') === true;

function groupBy<Value>(values: readonly Value[], keyOf: (value: Value) => string): Value[][] {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return [...groups.values()];
}
