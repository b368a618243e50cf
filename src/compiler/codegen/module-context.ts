import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { ProgramBuilder } from '../../bytecode/build/program-builder.ts';
import type { FunctionSignature } from '../../bytecode/executable.ts';
import type { BlockTable } from '../ir/walk/block.ts';
import type { FunctionExpr, Module } from '../ir/expr.ts';
import type { ConstructorDefinition } from '../ir/type.ts';
import { packedCalls } from './program-types.ts';
import { PrimitiveTable } from './primitive-table.ts';
import type { TypeInference } from '../inference/type-inference.ts';

/** A function of the executable that is to be generated. */
export interface FunctionSource {
  readonly name: string;
  readonly fn: FunctionExpr;
  readonly blocks: BlockTable;
  /** The promise to callers from outside; absent for functions of closures. */
  readonly signature: FunctionSignature | undefined;
  /** True if the executable records where in the source its instructions come from. */
  readonly isMapped: boolean;
}

/** The part that the functions of a module share while code is generated. */
export class ModuleContext {
  readonly builder: ProgramBuilder;
  readonly primitives: PrimitiveTable;
  readonly types: TypeInference;
  /** Numbers of shape programs by content. */
  readonly shapePrograms = new Map<string, number>();
  readonly #constructors = new Map<string, ConstructorDefinition>();
  /** Names of functions that a function of JavaScript has too. */
  readonly #renamed = new Map<string, string>();
  readonly #constructorFunctions = new Map<string, string>();
  readonly #names: Set<string>;
  /** Numbers that were tried to make names unique. */
  readonly #counts = new Map<string, number>();

  constructor(builder: ProgramBuilder, module: Module, types: TypeInference) {
    this.builder = builder;
    this.types = types;
    const packed = packedCalls(module, types);
    this.#names = new Set([...module.functions.keys(), ...packed.keys()]);
    for (const name of module.functions.keys()) {
      if (packed.has(name)) this.#renamed.set(name, this.#uniqueName(`${name}.checked`));
    }
    this.primitives = new PrimitiveTable(builder, types, this.#names);
    for (const definition of module.types.values()) {
      for (const constructor of definition.constructors) {
        this.#constructors.set(constructor.name, constructor);
      }
    }
  }

  /** The name that a global function has in the executable. */
  functionName(name: string): string {
    return this.#renamed.get(name) ?? name;
  }

  /** The tag that `allocate-adt-tags` has given a constructor. */
  tagOf(constructor: string): number {
    const { tag } = this.#find(constructor);
    if (tag === undefined) throw new Error(`internal: ${constructor} has no tag`);
    return tag;
  }

  /** The function that stands for a constructor as a value. */
  constructorFunction(constructor: string): string {
    const known = this.#constructorFunctions.get(constructor);
    if (known !== undefined) return known;
    const { fields } = this.#find(constructor);
    const tag = this.tagOf(constructor);
    const name = this.#uniqueName(constructor);
    const code = this.builder.function(
      name,
      fields.map((_, i) => `field${i}`),
    );
    code.ret(code.call(`${BUILTIN_PREFIX}make_adt`, [tag, ...fields.map((_, i) => code.r(i))]));
    this.#constructorFunctions.set(constructor, name);
    return name;
  }

  #find(name: string): ConstructorDefinition {
    const found = this.#constructors.get(name);
    if (found === undefined) throw new Error(`internal: no type has a constructor ${name}`);
    return found;
  }

  #uniqueName(base: string): string {
    let name = base;
    let count = this.#counts.get(base) ?? 0;
    for (; this.#names.has(name); count++) name = `${base}.${count + 1}`;
    this.#counts.set(base, count);
    this.#names.add(name);
    return name;
  }
}
