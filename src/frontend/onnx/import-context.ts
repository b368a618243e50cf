import {
  construct,
  constructorPattern,
  func,
  int,
  match,
  variableOf,
} from '../../compiler/ir/build.ts';
import type { Expr, FunctionExpr, Span } from '../../compiler/ir/expr.ts';
import { parseModule } from '../../compiler/ir/parse.ts';
import { tensorType, type TypeDefinition } from '../../compiler/ir/type.ts';
import type { DimBindings } from '../../compiler/passes/bind-dims.ts';
import { TypeInference } from '../../compiler/type-inference.ts';
import type { TensorType } from '../../core/primitive-function.ts';
import type { Dim } from '../../core/dim.ts';
import { FormatError } from '../../core/errors.ts';
import type { BranchChoices } from './branch-choices.ts';
import { canonicalDomain } from './operator-sets.ts';
import type { ExternalDataReader } from './protobuf/external-data.ts';
import type { FunctionProto, NodeProto } from './protobuf/schema.ts';
import type { ShapeValues } from './shape-values.ts';

export interface ImportContextParts {
  readonly dims: DimBindings;
  readonly localFunctions: readonly FunctionProto[];
  readonly externalData: ExternalDataReader | undefined;
  readonly choices: BranchChoices;
}

/** What the importers of all graphs of a model share. */
export class ImportContext {
  readonly dims: DimBindings;
  readonly externalData: ExternalDataReader | undefined;
  readonly choices: BranchChoices;
  readonly types = new TypeInference();
  readonly shapeValues: ShapeValues = new WeakMap();
  /** Elements of tensors that are known in part, `?` for the others. */
  readonly partialValues = new WeakMap<Expr, readonly Dim[]>();
  /** Global functions that sub-graphs became, by name. */
  readonly functions = new Map<string, FunctionExpr>();
  readonly typeDefinitions = new Map<string, TypeDefinition>();
  readonly #localFunctions: ReadonlyMap<string, FunctionProto>;
  readonly #symbols = new Set<string>();
  #symbolCount = 0;

  /** Throws FormatError when two functions of the model have one name. */
  constructor({ dims, localFunctions, externalData, choices }: ImportContextParts) {
    this.dims = dims;
    this.externalData = externalData;
    this.choices = choices;
    this.#localFunctions = byName(localFunctions);
  }

  /** The function of the model that a node calls, if it calls one. */
  localFunction({ domain, opType, overload }: NodeProto): FunctionProto | undefined {
    return this.#localFunctions.get(functionKey({ domain, name: opType, overload }));
  }

  /** Takes over the functions and types of a program in text form, where they are not there yet. */
  addProgram(text: string): void {
    const { functions, types } = parseModule(text);
    for (const [name, fn] of functions) if (!this.functions.has(name)) this.functions.set(name, fn);
    for (const [name, type] of types) this.typeDefinitions.set(name, type);
  }

  /** `(T) -> T` for any sizes: stops the program with an error that names the place. */
  stopFunction({ dtype, shape }: TensorType, span: Span): string {
    const type = tensorType({
      dtype,
      shape: shape.map((dim) => (typeof dim === 'number' ? dim : this.freshSymbol())),
    });
    const name = this.freshFunctionName(`stop.${span.source}`);
    const x = variableOf('x', type, span);
    const list = construct('Cons', [int(0), construct('Nil', [])]);
    const never = match(list, [[constructorPattern('Nil'), x]], { complete: false });
    this.addProgram('type List[A] { Cons(A, List[A]), Nil }');
    this.functions.set(name, { ...func([x], { ...never, span }), resultType: type, span });
    return name;
  }

  /** Makes a symbol of the model's inputs known, so that no other gets its name. */
  takeSymbol(symbol: string): void {
    this.#symbols.add(symbol);
  }

  /** The name of a dimension that only the running program knows. */
  freshSymbol(): string {
    for (;;) {
      const symbol = `size${this.#symbolCount++}`;
      if (!this.#symbols.has(symbol)) return symbol;
    }
  }

  /** A name for a function that none has. */
  freshFunctionName(wanted: string): string {
    for (let count = 0; ; count++) {
      const candidate = count === 0 ? wanted : `${wanted}.${count}`;
      if (candidate !== 'main' && !this.functions.has(candidate)) return candidate;
    }
  }
}

function byName(functions: readonly FunctionProto[]): ReadonlyMap<string, FunctionProto> {
  const found = new Map<string, FunctionProto>();
  for (const fn of functions) {
    const key = functionKey(fn);
    if (found.has(key)) {
      throw new FormatError({
        where: describeFunction(fn),
        got: 'two functions of that name',
        expected: 'each name once in a domain',
      });
    }
    found.set(key, fn);
  }
  return found;
}

function functionKey({
  domain,
  name = '',
  overload = '',
}: Pick<FunctionProto, 'domain' | 'name' | 'overload'>): string {
  return JSON.stringify([canonicalDomain(domain), name, overload]);
}

/** `function com.example.Gelu` */
export function describeFunction({ domain, name = '' }: FunctionProto): string {
  const prefix = canonicalDomain(domain);
  return `function ${prefix === '' ? name : `${prefix}.${name}`}`;
}
