import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { ProgramBuilder } from '../../bytecode/build/program-builder.ts';
import type { FunctionSignature } from '../../bytecode/executable.ts';
import type { BlockTable } from '../ir/walk/block.ts';
import type { FunctionExpr, Module, Expr } from '../ir/expr.ts';
import type { ConstructorDefinition } from '../ir/type.ts';
import { packedCalls } from './program-types.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { forEachSymbol, substituteDim } from '../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import type {
  OperatorCall,
  PrimitiveFunction,
  TensorType,
} from '../../core/contracts/primitive-function.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { Operators } from '../../ops/operators.ts';
import { postOrder } from '../ir/walk/visit.ts';
import { isOperatorCall } from '../ir/operators/operator-name.ts';

/** Primitive functions of the executable: those that differ in names only are stored once. */
class PrimitiveTable {
  readonly #builder: ProgramBuilder;
  readonly #types: TypeInference;
  readonly #names = new Map<FunctionExpr, string>();
  readonly #byContent = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #taken: Set<string>;

  constructor(builder: ProgramBuilder, types: TypeInference, taken: Set<string>) {
    this.#builder = builder;
    this.#types = types;
    this.#taken = taken;
  }

  nameOf(fn: FunctionExpr): string {
    const known = this.#names.get(fn);
    if (known !== undefined) return known;
    const base = fn.attributes.primitive ?? 'primitive';
    const content = this.#contentOf(fn);
    const key = `${base} ${textOf(content, this.#types.operators)}`;
    let name = this.#byContent.get(key);
    if (name === undefined) {
      name = this.#uniqueName(base);
      this.#byContent.set(key, name);
      this.#builder.primitive({ name, ...content });
    }
    this.#names.set(fn, name);
    return name;
  }

  #tensorType(expr: Expr): TensorType {
    const type = this.#types.of(expr);
    if (type.kind !== 'tensor') throw new Error('internal: a primitive function of no tensor');
    return { dtype: type.dtype, shape: type.shape };
  }

  #uniqueName(base: string): string {
    for (;;) {
      const count = this.#counts.get(base) ?? 0;
      this.#counts.set(base, count + 1);
      const name = count === 0 ? base : `${base}.${count}`;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }

  #contentOf(fn: FunctionExpr): Content {
    const values = new Map<Expr, number>(fn.params.map((param, i) => [param, i]));
    const body: OperatorCall[] = [];
    for (const expr of postOrder(fn.body)) {
      if (!isOperatorCall(expr)) continue;
      const op = expr.callee.name;
      const inputs = expr.args.map((arg) => values.get(arg) ?? -1);
      const attributes = completeAttributes(this.#types.operators.require(op), expr.attributes);
      values.set(expr, fn.params.length + body.length);
      body.push({ op, inputs, attributes });
    }
    const result = values.get(fn.body);
    if (result === undefined) throw new Error('internal: a primitive function has no result');
    return {
      params: fn.params.map((param) => this.#tensorType(param)),
      body,
      results: [{ value: result, type: this.#tensorType(fn.body) }],
      ...(fn.attributes.device === undefined ? {} : { device: fn.attributes.device }),
      ...(fn.attributes.inPlace === undefined ? {} : { inPlace: fn.attributes.inPlace }),
    };
  }
}

type Content = Omit<PrimitiveFunction, 'name'>;

/** The same text for contents that differ in the names of symbols only, as those of clones of a function do. */
function textOf({ params, body, results, ...others }: Content, operators: Operators): string {
  const names = new Map<string, string>();
  const dims = (shape: readonly Dim[]): string => {
    const renamed = shape.map((dim) => {
      forEachSymbol(dim, (symbol) => {
        if (!names.has(symbol)) names.set(symbol, `s${names.size}`);
      });
      return formatDim(substituteDim(dim, names));
    });
    return renamed.join();
  };
  let text = JSON.stringify(others);
  for (const { dtype, shape } of params) text += ` ${dtype}(${dims(shape)})`;
  for (const { op, inputs, attributes } of body) {
    text += ` ${op}(${inputs.join()})`;
    const specs = operators.require(op).attributes;
    for (const [name, value] of Object.entries(attributes)) {
      const isDims = specs[name]?.type === 'dims' && Array.isArray(value);
      text += ` ${name}=${isDims ? dims(value) : JSON.stringify(value, exactNumber)}`;
    }
  }
  for (const { value, type } of results) text += ` ${value} ${type.dtype}(${dims(type.shape)})`;
  return text;
}

/** JSON does not tell -0, infinities and NaN apart. */
function exactNumber(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  return Object.is(value, -0) ? '-0' : String(value);
}

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
