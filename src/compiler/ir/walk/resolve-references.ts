import type { Diagnostics } from '../diagnostics.ts';
import type { Module } from '../expr.ts';
import type { Token } from '../text/lexer.ts';
import { nearestName } from '../../../core/nearest-name.ts';
import { describeToken } from '../text/token-cursor.ts';
import type { TypeDefinition } from '../type.ts';

/** A name that a definition uses and that another definition gives. */
export interface Reference {
  readonly kind: 'global' | 'constructor' | 'type';
  readonly token: Token;
  readonly argumentCount?: number;
}

/** A module whose definitions may become part of another one. */
export interface Library {
  readonly module: Module;
  /** The references of each definition, by `def name` or `type name`. */
  readonly references: ReadonlyMap<string, readonly Reference[]>;
}

interface ResolveOptions {
  readonly references: readonly Reference[];
  readonly library: Library | undefined;
  readonly diagnostics: Diagnostics;
}

/**
 * Reports names that neither the module nor the library defines. Returns the module with what it
 * uses of the library, in the library's order, after its own definitions.
 */
export function resolveReferences(module: Module, options: ResolveOptions): Module {
  const resolver = new Resolver(module, options);
  for (const reference of options.references) resolver.resolve(reference);
  return resolver.finish();
}

class Resolver {
  readonly #module: Module;
  readonly #library: Library | undefined;
  readonly #diagnostics: Diagnostics;
  readonly #own: ReadonlyMap<string, TypeDefinition>;
  readonly #libraryTypes: ReadonlyMap<string, TypeDefinition>;
  /** `def name` and `type name` of the library. */
  readonly #used = new Set<string>();

  constructor(module: Module, { library, diagnostics }: ResolveOptions) {
    this.#module = module;
    this.#library = library;
    this.#diagnostics = diagnostics;
    this.#own = typesByConstructor(module);
    this.#libraryTypes = library === undefined ? new Map() : typesByConstructor(library.module);
  }

  resolve(reference: Reference): void {
    if (this.#isOwn(reference)) return;
    const definition = this.#inLibrary(reference);
    if (definition === undefined) this.#unknown(reference);
    else this.#use(definition, reference.token);
  }

  finish(): Module {
    const { functions, types } = this.#library?.module ?? { functions: [], types: [] };
    const isUsed = (kind: string) => (entry: readonly [string, unknown]) =>
      this.#used.has(`${kind} ${entry[0]}`);
    return {
      ...this.#module,
      functions: new Map([...this.#module.functions, ...[...functions].filter(isUsed('def'))]),
      types: new Map([...this.#module.types, ...[...types].filter(isUsed('type'))]),
    };
  }

  #isOwn({ kind, token, argumentCount }: Reference): boolean {
    if (kind === 'global') return this.#module.functions.has(token.text);
    if (kind === 'constructor') return this.#own.has(token.text);
    const type = this.#module.types.get(token.text);
    if (type !== undefined) this.#checkArity(type, token, argumentCount);
    return type !== undefined;
  }

  #inLibrary({ kind, token, argumentCount }: Reference): string | undefined {
    if (kind === 'global') {
      const isKnown = this.#library?.module.functions.has(token.text) === true;
      return isKnown ? `def ${token.text}` : undefined;
    }
    const type =
      kind === 'constructor'
        ? this.#libraryTypes.get(token.text)
        : this.#library?.module.types.get(token.text);
    if (type === undefined) return undefined;
    if (kind === 'type') this.#checkArity(type, token, argumentCount);
    return `type ${type.name}`;
  }

  /** Takes a definition of the library and all that it needs. */
  #use(definition: string, user: Token): void {
    const waiting = [definition];
    for (let top = waiting.pop(); top !== undefined; top = waiting.pop()) {
      if (this.#used.has(top)) continue;
      this.#used.add(top);
      this.#checkConflicts(top, user);
      for (const reference of this.#library?.references.get(top) ?? []) {
        const needed = this.#inLibrary(reference);
        if (needed !== undefined) waiting.push(needed);
      }
    }
  }

  /** The library's definitions mean the library's own names. */
  #checkConflicts(definition: string, user: Token): void {
    const [kind, name = ''] = definition.split(' ');
    const isTaken =
      kind === 'def' ? this.#module.functions.has(name) : this.#module.types.has(name);
    const type = kind === 'type' ? this.#library?.module.types.get(name) : undefined;
    const taken = type?.constructors.find((constructor) => this.#own.has(constructor.name));
    if (!isTaken && taken === undefined) return;
    const what = taken === undefined ? `${kind === 'def' ? '@' : ''}${name}` : taken.name;
    this.#diagnostics.report(user, {
      got: describeToken(user),
      expected: `no definition of ${what} in this text`,
      remedy: `It needs ${what} of the prelude; rename one, or leave the prelude out.`,
    });
  }

  #checkArity({ name, params }: TypeDefinition, token: Token, argumentCount = 0): void {
    if (argumentCount === params.length) return;
    const expected = params.length === 0 ? `${name} alone` : `${name}[${params.join(', ')}]`;
    this.#diagnostics.report(token, {
      got: `${name} with ${argumentCount} type argument${argumentCount === 1 ? '' : 's'}`,
      expected,
    });
  }

  #unknown({ kind, token }: Reference): void {
    const names = {
      global: ['@', 'a global function', namesOf(this.#module, this.#library, 'functions')],
      constructor: ['', 'a constructor', [...this.#own.keys(), ...this.#libraryTypes.keys()]],
      type: ['', 'a type', namesOf(this.#module, this.#library, 'types')],
    } as const;
    const [sigil, expected, candidates] = names[kind];
    this.#diagnostics.report(token, {
      got: describeToken(token),
      expected: `${expected} that is defined`,
      remedy: nearestName(token.text, candidates, sigil),
    });
  }
}

function namesOf(
  module: Module,
  library: Library | undefined,
  kind: 'functions' | 'types',
): string[] {
  return [...module[kind].keys(), ...(library?.module[kind].keys() ?? [])];
}

function typesByConstructor(module: Module): Map<string, TypeDefinition> {
  const types = new Map<string, TypeDefinition>();
  for (const type of module.types.values()) {
    for (const constructor of type.constructors) {
      types.set(constructor.name, type);
    }
  }
  return types;
}
